// A program of its own, so that the memory of the one that asks is left alone: node heap_reader.js SNAPSHOT > JSON
import { HeapGraph } from './heap_graph';
import { holdings } from './heap_paths';

process.stdout.write(JSON.stringify(holdings(new HeapGraph(process.argv[2] as string))));
