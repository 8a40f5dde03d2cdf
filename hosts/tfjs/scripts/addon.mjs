// Builds the addon with the project's CMake: build/ebb_node.node.
import { buildTarget } from './cmake.mjs';

buildTarget('ebb_node');
