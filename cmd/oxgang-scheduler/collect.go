package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How much the heap may grow between two collections: by room, in bytes, but by no less than collectMore per cent of what is live. It may
// not grow by more than collectLess per cent of that, unless that is below smallRoom, in bytes. What is live is what is known of jobs and
// pods, a few kB of each; Go's 100 per cent would take twice that of a queue of thousands. Without smallRoom a fifth of the processor time of
// the first 20 seconds was collections.
const (
	room        = 64 << 20
	smallRoom   = 32 << 20
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
	live = max(smallRoom/4, live)
	return int(max(collectMore, min(room*100/live, max(collectLess, smallRoom*100/live))))
}
