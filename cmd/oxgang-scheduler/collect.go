package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// room is how much the heap may grow between two collections, in bytes, where that is at least collectMore and at most
// collectLess per cent of what is live, or little. What is live is what is known of jobs and pods, a few kB of each; Go's 100 would take twice
// that of a queue of thousands. Without little a fifth of the processor time of the first 20 seconds was collections.
const (
	room        = 64 << 20
	little      = 32 << 20
	collectLess = 50
	collectMore = 25
)

// A mark is garbage: that it was collected says that there was a collection. It has a pointer, because the
// smallest objects without one share their memory with others, and may be kept by them.
type mark struct{ _ *mark }

// collect lets the heap grow by as much as growth says, from now on.
func collect() {
	debug.SetGCPercent(growth(0))
	runtime.SetFinalizer(new(mark), afterCollection)
}

// afterCollection sets how much the heap may grow until the next collection, and is called again after that.
func afterCollection(m *mark) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(sample); sample[0].Value.Kind() == metrics.KindUint64 {
		debug.SetGCPercent(growth(int64(sample[0].Value.Uint64())))
	}
	runtime.SetFinalizer(m, afterCollection)
}

// growth returns how much the heap may grow beyond so many live bytes, in per cent of them.
func growth(live int64) int {
	live = max(little/4, live)
	return int(max(collectMore, min(room*100/live, max(collectLess, little*100/live))))
}
