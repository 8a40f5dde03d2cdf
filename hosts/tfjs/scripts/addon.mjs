// Builds with the project's CMake: build/ebb_node.node, the addon, and build/ebb, the tool that reads recordings.
import { buildTarget } from './cmake.mjs';

buildTarget('ebb_node', 'ebb_node_tool');
