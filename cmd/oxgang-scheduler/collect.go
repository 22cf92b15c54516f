package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Limits on the growth of the heap between two garbage collections: room bytes, but at least collectMore and at
// most collectLess per cent of the live heap. Below smallRoom bytes, collectLess does not apply, since a fifth of
// the first 20 seconds was spent in collections.
const (
	room        = 64 << 20
	smallRoom   = 32 << 20
	collectLess = 50
	collectMore = 25
)

// A mark is garbage whose finalizer runs after each collection. It contains a pointer, because the allocator can
// combine small objects without pointers and keep them alive.
type mark struct{ _ *mark }

func collect() {
	debug.SetGCPercent(growth(0))
	runtime.SetFinalizer(new(mark), afterCollection)
}

func afterCollection(m *mark) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(sample); sample[0].Value.Kind() == metrics.KindUint64 {
		debug.SetGCPercent(growth(int64(sample[0].Value.Uint64())))
	}
	runtime.SetFinalizer(m, afterCollection)
}

func growth(live int64) int {
	live = max(smallRoom/4, live)
	return int(max(collectMore, min(room*100/live, max(collectLess, smallRoom*100/live))))
}
