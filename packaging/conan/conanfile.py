"""Ebb from a checkout: conan create packaging/conan"""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy

PROJECT = os.path.join(os.path.dirname(__file__), "..", "..")


class Ebb(ConanFile):
    name = "ebb"
    version = "0.2.0"
    license = "Apache-2.0"
    description = "Gives device memory back for programs in garbage-collected languages"
    topics = ("memory", "tensor", "garbage collection")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False]}
    default_options = {"shared": True}
    generators = "CMakeDeps"

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "tools/*"):
            copy(self, pattern, PROJECT, self.export_sources_folder)

    def requirements(self):
        self.requires("fmt/9.1.0", transitive_headers=True, transitive_libs=True)
        self.requires("nlohmann_json/3.11.2")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["EBB_SHARED"] = bool(self.options.shared)
        for part in ("EBB_BUILD_TESTS", "EBB_BUILD_EXAMPLES", "EBB_BUILD_TOOL", "EBB_CPU"):
            toolchain.cache_variables[part] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="ebb")

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # Ebb's own ebbConfig.cmake
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "ebb")]
        self.cpp_info.libs = ["ebb"]
