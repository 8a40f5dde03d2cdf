# The front door. `make help` lists the targets; CMake presets are below (cmake --preset dev).
SHELL := /bin/bash
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
PRESET ?= dev
SOAK_MINUTES ?= 10

.PHONY: help deps build cuda cuda-all test-cuda node jvm spark demo demo-spark web-demo test coverage bench soak mutants specs format clean dist dist-test

# npm in hosts/tfjs, with a Node that is new enough.
NPM = PATH="$$(tools/ensure_node.sh):$$PATH" npm --prefix hosts/tfjs --silent run

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install what is missing of tools/packages.txt (Debian)
	@tools/install_deps.sh

build: deps ## Build one preset: make build PRESET=asan
	@cmake --preset $(PRESET)
	@cmake --build --preset $(PRESET) -j $(JOBS)

CUDA_ARCHITECTURES ?= 90
cuda: deps ## Build libebb_cuda.so in build/cuda (nvcc 13 is fetched; no GPU is needed)
	@cmake --preset cuda -DEBB_CUDA_ARCHITECTURES="$(CUDA_ARCHITECTURES)"
	@cmake --build --preset cuda -j $(JOBS)

cuda-all: ## The same for every GPU from Turing to Hopper
	@$(MAKE) --no-print-directory cuda CUDA_ARCHITECTURES="75;80;86;89;90"

test-cuda: deps ## Make build/cuda-test, a folder to copy to a machine with a GPU; run it where there is one
	@$(MAKE) --no-print-directory cuda
	@$(MAKE) --no-print-directory node
	@$(NPM) specs -- --bundle
	@tools/pack_cuda_test.sh
	@if nvidia-smi -L >/dev/null 2>&1; then build/cuda-test/run.sh; else \
	  echo "no GPU here: copy build/cuda-test to a machine with one and run ./run.sh there"; fi

node: ## Build package ebb-tfjs in hosts/tfjs
	@tools/install_deps.sh build
	@tools/build_node.sh

jvm: ## Build artifact ebb-djl in hosts/djl; make jvm DO=install, test, engines, bench, soak, asan or demo does that with it
	@tools/install_deps.sh build jvm
	@tools/jvm.py $(or $(DO),build)

spark: ## Build artifact ebb-spark in hosts/spark; make spark DO=install, test, soak, bench or screenshot does that with it
	@tools/install_deps.sh build jvm
	@tools/spark.py $(or $(DO),build)

demo: ## Train carelessly with reclaim off and on: a simulated host, MNIST in Node and on the JVM; pictures in build/demo
	@tools/install_deps.sh build
	@JOBS=$(JOBS) python3 tools/demo.py

demo-spark: ## Run a careless DJL job on a small Spark cluster of this machine's, without ebb-spark and with it
	@$(MAKE) --no-print-directory spark DO=demo

web-demo: node ## Serve a page on loopback that trains carelessly with webgl or webgpu, reclaim a switch on it
	@tools/install_deps.sh wasm
	@tools/build_web.sh
	@PATH="$$(tools/ensure_node.sh):$$PATH" node hosts/tfjs/web/demo/serve.mjs

test: deps ## Run every test and check, with a summary
	@python3 tools/run_tests.py --jobs $(JOBS)

coverage: deps ## Print line coverage of src/memory and src/tensor
	@python3 tools/run_tests.py --jobs $(JOBS) --only coverage

bench: deps ## Run the benchmarks and print the table of figures
	@cmake --preset release -DEBB_BUILD_BENCH=ON
	@cmake --build --preset release -j $(JOBS)
	@$(MAKE) --no-print-directory node
	@tools/build_web.sh
	@$(MAKE) --no-print-directory jvm
	@PATH="$$(tools/ensure_node.sh):$$PATH" python3 tools/run_bench.py
	@python3 tools/bench_table.py

soak: deps ## Run fuzzers, randomised suites, a careless server and more for SOAK_MINUTES (10) each
	@python3 tools/run_tests.py --jobs $(JOBS) --soak $(SOAK_MINUTES)

mutants: deps ## Break the core one small way at a time, and count the tests that notice (hours)
	@python3 tools/mutants.py --jobs $(JOBS)

specs: node ## Run the specs of tfjs-core on each backend; make specs SOURCES=FOLDER, a checkout of TF.js: those of layers, converter, data
	@$(NPM) $(if $(SOURCES),specs:sources -- "$(abspath $(SOURCES))",specs)

dist: deps ## Make what is published into dist/; make dist PARTS="npm cpp" only that, of npm cpp maven arm64 musl cuda
	@python3 packaging/make.py $(if $(PARTS),--only $(PARTS))

dist-test: ## Install dist/ where nothing of this machine is, and build it again to compare the bytes (root; hours); ONLY="five musl"
	@tools/install_deps.sh build jvm dist
	@python3 packaging/test.py $(if $(ONLY),--only $(ONLY))

format: deps ## Format C, C++, TypeScript and JavaScript
	@python3 tools/format.py

clean: ## Remove build/ and what was built in hosts/
	rm -rf build dist hosts/tfjs/build hosts/tfjs/dist hosts/djl/target hosts/spark/target hosts/spark/*/target
