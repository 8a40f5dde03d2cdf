package dev.ebb.djl.core.observe;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON as maps, lists, texts, doubles, booleans and null. For what the tool prints and for budget files. */
public final class Json {

    private static final int DEEPEST = 64;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** @throws IllegalArgumentException if it is none, and where */
    public static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.space();
        if (json.at != text.length()) {
            throw json.wrong("the end");
        }
        return value;
    }

    private Object value(int depth) {
        space();
        if (depth > DEEPEST) {
            throw wrong("less depth");
        }
        char next = peek();
        return switch (next) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        for (space(); peek() != '}'; space()) {
            if (!members.isEmpty()) {
                expect(',');
                space();
            }
            String name = string();
            space();
            expect(':');
            members.put(name, value(depth + 1));
        }
        at++;
        return members;
    }

    private List<Object> array(int depth) {
        List<Object> values = new ArrayList<>();
        at++;
        for (space(); peek() != ']'; space()) {
            if (!values.isEmpty()) {
                expect(',');
            }
            values.add(value(depth + 1));
        }
        at++;
        return values;
    }

    private String string() {
        expect('"');
        StringBuilder read = new StringBuilder();
        while (peek() != '"') {
            char next = text.charAt(at++);
            read.append(next == '\\' ? escaped() : next);
        }
        at++;
        return read.toString();
    }

    private char escaped() {
        char kind = peek();
        at++;
        return switch (kind) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'u' -> {
                if (at + 4 > text.length()) {
                    throw wrong("four digits");
                }
                at += 4;
                try {
                    yield (char) Integer.parseInt(text.substring(at - 4, at), 16);
                } catch (NumberFormatException e) {
                    throw wrong("four digits");
                }
            }
            case '"', '\\', '/' -> kind;
            default -> throw wrong("an escape");
        };
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong(word);
        }
        at += word.length();
        return value;
    }

    private Double number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        try {
            return Double.valueOf(text.substring(from, at));
        } catch (NumberFormatException e) {
            throw wrong("a value");
        }
    }

    private void expect(char wanted) {
        if (peek() != wanted) {
            throw wrong("'" + wanted + "'");
        }
        at++;
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong("more");
        }
        return text.charAt(at);
    }

    private void space() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private IllegalArgumentException wrong(String expected) {
        return new IllegalArgumentException("[json] " + expected + " expected at character " + at);
    }
}
