# The front door. `make help` lists the targets; CMake presets are below (cmake --preset dev).
SHELL := /bin/bash
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
PRESET ?= dev
SOAK_MINUTES ?= 10

.PHONY: help deps build cuda cuda-all test-cuda node jvm demo test coverage bench soak specs format clean

# npm in hosts/node, with a Node that is new enough.
NPM = PATH="$$(tools/ensure_node.sh):$$PATH" npm --prefix hosts/node --silent run

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

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

node: deps ## Build package ebb-tfjs in hosts/node
	@tools/build_node.sh

jvm: deps ## Build artifact ebb-djl in hosts/jvm; make jvm DO=test, bench, soak, asan or demo does that with it
	@tools/jvm.py $(or $(DO),build)

demo: deps ## Train carelessly with reclaim off and on: a simulated host, MNIST in Node and on the JVM; pictures in build/demo
	@$(MAKE) --no-print-directory build PRESET=release
	@$(MAKE) --no-print-directory node
	@mkdir -p build/demo
	@build/release/examples/demo_careless_host
	@echo
	@$(NPM) demo
	@echo
	@tools/jvm.py demo

test: deps ## Run every test and check, with a summary
	@python3 tools/run_tests.py --jobs $(JOBS)

coverage: deps ## Print line coverage of src/memory and src/tensor
	@python3 tools/run_tests.py --jobs $(JOBS) --only coverage

bench: deps ## Run the benchmarks and print the table of figures
	@$(MAKE) --no-print-directory build PRESET=release
	@$(MAKE) --no-print-directory node
	@$(MAKE) --no-print-directory jvm
	@PATH="$$(tools/ensure_node.sh):$$PATH" python3 tools/run_bench.py
	@python3 tools/bench_table.py

soak: deps ## Run fuzzers, randomised suites, a careless server and more for SOAK_MINUTES (10) each
	@python3 tools/run_tests.py --jobs $(JOBS) --soak $(SOAK_MINUTES)

specs: node ## Run the specs of tfjs-core on each backend: reclaim off, on, as a user would, and collections forced
	@$(NPM) specs

format: deps ## Format C, C++, TypeScript and JavaScript
	@python3 tools/format.py

clean: ## Remove build/ and what was built in hosts/
	rm -rf build hosts/node/build hosts/node/dist hosts/jvm/target
