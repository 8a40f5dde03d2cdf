"""Attaches to a running process as people do: in the terminal, in a browser's place, several at once.

    live_test.py <ebb> <live_process>
"""
import fcntl
import http.client
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

EBB, LIVE = sys.argv[1:3]
LEAK = "handle (/srv/app.js:42:7)"
# `ebb top` in tmux, figures and runs of spaces made alike.
SHAPE = [
    r"ebb top live </script>\xNb[Nm.js (pid N), N s, N events",
    "GROWING +N MB/s; N tensors alive, N made; at most N MB",
    "cpu [BAR] N MB of N MB in use, N MB committed",
    "resident N MB; N dropped tensors wait; N collections took N ms",
    "",
    " alive tensors made growth place",
    " N MB N N MB +N MB/s handle (/srv/app.js:N:N)",
]


class Live(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.folder.chmod(0o700)
        self.env = {**os.environ, "XDG_RUNTIME_DIR": str(self.folder)}
        self.started = []

    def tearDown(self):
        for process in self.started:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        shutil.rmtree(self.folder)

    def start(self, *words, **more) -> subprocess.Popen:
        process = subprocess.Popen(list(map(str, words)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=self.env, **more)
        self.started.append(process)
        return process

    def leaking(self, *words) -> subprocess.Popen:
        process = self.start(LIVE, *words)
        self.assertEqual(process.stdout.readline(), b"ready\n", "it did not start")
        return process

    def ebb(self, *words) -> subprocess.CompletedProcess:
        return subprocess.run([EBB, *map(str, words)], capture_output=True, timeout=120, env=self.env)

    def report(self, pid: int, *words) -> dict:
        done = self.ebb("report", pid, "--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_process_is_found_by_itself_and_seen(self):
        process = self.leaking()
        listed = self.ebb("list").stdout.decode()
        self.assertIn(str(process.pid), listed)
        self.assertIn("\\x1b[31m", listed)
        self.assertNotIn("\x1b", listed)
        time.sleep(2.5)
        picture = self.ebb("top", "--once").stdout.decode()
        self.assertIn(f"(pid {process.pid})", picture)
        self.assertIn(LEAK, picture)
        self.assertRegex(picture, r"GROWING \+\d")
        self.assertRegex(picture, r"cpu +\[#+\.+\] [\d.]+ MB of 256 MB in use, [\d.]+ MB committed")
        self.assertNotIn("\x1b", picture)
        first, second = self.report(process.pid), self.report(process.pid)
        self.assertGreater(second["live"], first["live"])
        self.assertTrue(second["growing"])
        self.assertEqual(second["places"][0]["line"], 42)

    def test_one_that_is_stopped_keeps_nobody_waiting(self):
        process = self.leaking()
        process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        done = self.ebb("report", process.pid)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"does not answer", done.stderr)
        self.assertLess(time.monotonic() - begun, 20)
        process.send_signal(signal.SIGCONT)
        self.assertGreater(self.report(process.pid)["events"], 0)

    def test_its_own_output_is_untouched_and_its_files_go_with_it(self):
        process = self.leaking()
        for _ in range(3):
            self.ebb("top", "--once")
        self.assertTrue((self.folder / "ebb" / f"{process.pid}.ebbrec").exists())
        out, err = process.communicate(b"\n", timeout=30)
        self.assertEqual((process.returncode, out, err), (0, b"", b""))
        self.assertEqual(list((self.folder / "ebb").iterdir()), [])

    def test_a_recording_with_a_name_stays(self):
        file = self.folder / "kept.ebbrec"
        process = self.leaking(file)
        self.assertGreater(self.report(process.pid)["events"], 0)
        process.communicate(b"\n", timeout=30)
        self.assertEqual(self.ebb("report", file).returncode, 0)

    def test_the_host_is_asked_what_holds_them(self):
        process = self.leaking()
        self.assertEqual(self.report(process.pid, "--why")["places"][0]["holder"], "global.cache (Map)")
        self.assertEqual(process.stdout.readline(), b"asked 2\n")
        self.assertIn("held by: global.cache (Map)", self.ebb("top", "--once").stdout.decode())
        self.assertRegex(self.ebb("why", process.pid, "app.js:42").stdout.decode(),
                         r"^handle \(/srv/app\.js:42:7\): .* alive\n  held by: global\.cache \(Map\)\n$")

    def test_many_attach_at_once_and_leave_as_they_like(self):
        process = self.leaking()
        viewers = [self.start(EBB, "top", "--once", process.pid) for _ in range(6)]
        for killed in (self.start(EBB, "view", "--live", process.pid) for _ in range(2)):
            killed.stdout.readline()
            killed.kill()
        for viewer in viewers:
            out, err = viewer.communicate(timeout=60)
            self.assertIn(LEAK, out.decode(), err)
        self.assertGreater(self.report(process.pid)["events"], 0)

    def test_those_who_are_not_there_or_were_killed(self):
        done = self.ebb("top")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no process of yours", done.stderr.decode())
        self.assertEqual(self.ebb("report", 999999999).returncode, 2)
        process = self.leaking()
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(self.ebb("report", process.pid).returncode, 2)
        self.assertEqual(self.ebb("list").stdout, b"")
        self.assertFalse((self.folder / "ebb" / f"{process.pid}.sock").exists())
        # What it had written is there to be read.
        self.assertEqual(self.ebb("report", self.folder / "ebb" / f"{process.pid}.ebbrec").returncode, 0)

    def test_several_processes_must_be_told_apart(self):
        one, two = self.leaking(), self.leaking()
        done = self.ebb("top")
        self.assertEqual(done.returncode, 2)
        self.assertIn(str(one.pid), done.stderr.decode())
        self.assertIn(str(two.pid), done.stderr.decode())
        self.assertNotIn(b"\x1b", done.stderr)
        self.assertEqual(self.ebb("top", "--once", two.pid).returncode, 0)

    def terminal(self, *words) -> tuple[int, int]:
        """The tool in a terminal of 100 x 20: its pid, and the terminal's other side."""
        pid, side = pty.fork()
        if pid == 0:
            os.execve(EBB, [EBB, *map(str, words)], self.env)
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 100, 0, 0))
        return pid, side

    def read_terminal(self, side: int, seconds: float) -> str:
        text, until = b"", time.monotonic() + seconds
        while time.monotonic() < until:
            if not select.select([side], [], [], 0.1)[0]:
                continue
            try:
                text += os.read(side, 65536)
            except OSError:
                break
        return text.decode()

    def test_top_in_a_terminal(self):
        process = self.leaking()
        pid, side = self.terminal("top", process.pid, "--interval", "0.3")
        text = self.read_terminal(side, 2.5)
        frames = text.split("\x1b[H")
        self.assertGreater(len(frames), 4, text)
        last = re.sub(r"\x1b\[[KJ]", "", frames[-1])
        lines = last.split("\r\n")
        self.assertLessEqual(len(lines), 20)
        self.assertTrue(all(len(line) <= 100 for line in lines), lines)
        self.assertIn(f"ebb top  live </script>\\x1b[31m.js (pid {process.pid})", lines[0])
        self.assertIn(LEAK, last)
        # Whatever the names say: only what the tool itself writes moves the terminal.
        self.assertEqual(set(re.findall(r"\x1b\[[?0-9;]*[a-zA-Z]", text)),
                         {"\x1b[H", "\x1b[K", "\x1b[J", "\x1b[?1049h", "\x1b[?25l"})
        os.write(side, b"q")
        rest = self.read_terminal(side, 2)
        self.assertTrue(rest.endswith("\x1b[?25h\x1b[?1049l"), rest)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        os.close(side)

    def test_the_picture_as_a_terminal_shows_it(self):
        process = self.leaking()
        place = self.folder / "tmux"
        tmux = lambda *words: subprocess.run(["tmux", "-S", place, "-f", "/dev/null", *map(str, words)], env={**self.env, "TERM": "xterm"},
                                             check=True, capture_output=True, text=True).stdout
        tmux("new-session", "-d", "-x", 100, "-y", 20, f"exec {EBB} top {process.pid} --interval 0.2")
        try:
            until = time.monotonic() + 30
            while "GROWING" not in (picture := tmux("capture-pane", "-p")) and time.monotonic() < until:
                time.sleep(0.2)
        finally:
            tmux("kill-server")
        # The figures move: what stands where, and how it is laid out, does not.
        shape = re.sub(r"[\d,.]+ (B|KB|MB|GB|ms|s)\b", r"N \1", picture)
        shape = re.sub(r"[#.]{8,}", "BAR", re.sub(r"\d[\d,]*", "N", shape))
        self.assertEqual([re.sub(r" +", " ", line).rstrip() for line in shape.rstrip().split("\n")], SHAPE, picture)

    def test_top_ends_with_the_process(self):
        process = self.leaking()
        pid, side = self.terminal("top", process.pid, "--interval", "0.2")
        self.read_terminal(side, 1)
        process.communicate(b"\n", timeout=30)
        text = self.read_terminal(side, 6)
        self.assertIn("ENDED", text)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        os.close(side)

    # ---- ebb view

    def view(self, *words) -> tuple[int, str]:
        server = self.start(EBB, "view", *words)
        said = server.stdout.readline().decode()
        found = re.fullmatch(r"open http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{64}) \(Ctrl-C ends it\)\n", said)
        self.assertTrue(found, said)
        return int(found[1]), found[2]

    def get(self, port: int, path: str, headers: dict | None = None, method: str = "GET"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def test_view_serves_a_running_process_to_those_who_know(self):
        process = self.leaking()
        port, token = self.view("--live", process.pid)
        cookie = {"Cookie": f"ebb-{port}={token}"}
        first, _ = self.get(port, f"/?token={token}")
        self.assertEqual((first.status, first.headers["Location"]), (303, "/"))
        self.assertIn("HttpOnly; SameSite=Strict", first.headers["Set-Cookie"])
        page, html = self.get(port, "/", cookie)
        self.assertEqual(page.status, 200)
        self.assertIn(b"connect-src 'self'", html)
        _, before = self.get(port, "/data.json", cookie)
        time.sleep(0.5)
        _, after = self.get(port, "/data.json", cookie)
        live = [json.loads(each)["recordings"][0]["live"] for each in (before, after)]
        self.assertGreater(live[1], live[0])
        self.assertTrue(json.loads(after)["live"])
        for headers in ({}, {"Cookie": f"ebb-{port}={token[:-1]}"}, {**cookie, "Host": "evil.example"},
                        {**cookie, "Origin": "http://evil.example"}):
            for path in ("/", "/data.json"):
                answer, body = self.get(port, path, headers)
                self.assertEqual(answer.status, 403, headers)
                self.assertNotIn(b"handle", body)
        self.assertEqual(self.get(port, "/?token=" + "0" * 64)[0].status, 403)
        self.assertEqual(self.get(port, "/", cookie, "POST")[0].status, 405)

    def test_view_listens_on_loopback_only_and_survives_nonsense(self):
        process = self.leaking()
        port, token = self.view("--live", process.pid)
        local = {line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]}
        self.assertIn(f"0100007F:{port:04X}", local)
        self.assertNotIn(f"00000000:{port:04X}", local)
        for nonsense in (b"\0" * 100, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000 + b"\r\n", b"x\r\n\r\n"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.connect()
            try:
                connection.sock.sendall(nonsense)
                connection.sock.shutdown(1)
                connection.sock.recv(1000)
            except OSError:
                pass
            connection.close()
        self.assertEqual(self.get(port, "/", {"Cookie": f"ebb-{port}={token}"})[0].status, 200)

    def test_view_serves_a_file_and_spans_of_it(self):
        file = self.folder / "kept.ebbrec"
        process = self.leaking(file)
        time.sleep(2)
        process.communicate(b"\n", timeout=30)
        port, token = self.view(file)
        cookie = {"Cookie": f"ebb-{port}={token}"}
        whole = json.loads(self.get(port, "/data.json", cookie)[1])
        self.assertFalse(whole["live"])
        part = json.loads(self.get(port, "/data.json?from=0.5&to=1.0", cookie)[1])["recordings"][0]
        self.assertLess(part["width"], 0.0011)
        self.assertAlmostEqual(part["origin"], 0.5, 2)
        self.assertLess(part["allBlocks"], whole["recordings"][0]["allBlocks"])
        self.assertEqual(self.get(port, "/data.json?from=x", cookie)[0].status, 400)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
