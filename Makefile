# The front door. `make help` lists the targets; CMake presets are below (cmake --preset dev).
SHELL := /bin/bash
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc)
PRESET ?= dev
SOAK_MINUTES ?= 10

.PHONY: help deps build demo test coverage bench soak specs format clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install what is missing of tools/packages.txt (Debian)
	@tools/install_deps.sh

build: deps ## Build one preset: make build PRESET=asan
	@cmake --preset $(PRESET)
	@cmake --build --preset $(PRESET) -j $(JOBS)

demo: deps ## Run a careless host with reclaim off and on; curves in build/demo
	@$(MAKE) --no-print-directory build PRESET=release
	@mkdir -p build/demo
	@build/release/examples/demo_careless_host

test: deps ## Run every test and check, with a summary
	@python3 tools/run_tests.py --jobs $(JOBS)

coverage: deps ## Print line coverage of src/memory and src/tensor
	@python3 tools/run_tests.py --jobs $(JOBS) --only coverage

bench: deps ## Run the benchmarks and print the table of figures
	@$(MAKE) --no-print-directory build PRESET=release
	@python3 tools/run_bench.py
	@python3 tools/bench_table.py

soak: deps ## Run the fuzzers and the randomised suites for SOAK_MINUTES (10)
	@python3 tools/run_tests.py --jobs $(JOBS) --soak $(SOAK_MINUTES)

specs: ## Run the specs of tfjs-core (hosts/node)
	@if [ ! -f hosts/node/package.json ]; then echo "specs: hosts/node is not in the tree yet"; exit 1; fi
	@PATH="$$(tools/ensure_node.sh):$$PATH" npm --prefix hosts/node run specs

format: deps ## Format all C and C++ files
	@python3 tools/format.py

clean: ## Remove build/
	rm -rf build
