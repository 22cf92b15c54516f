package command

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// room is how many bytes the heap may grow between two collections, within collectMore and collectLess per cent of
// the live heap. A run keeps little alive, a few hundred bytes per job, and creates much that lasts one round.
const (
	room        = 32 << 20
	collectLess = 400
	collectMore = 50
)

// most is the maximum growth in per cent; 0 if GOGC is set.
var most atomic.Int64

// collect limits the growth of the heap, unless GOGC is set.
func collect(percent int) {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(percent)
	if most.Swap(int64(percent)) == 0 {
		runtime.SetFinalizer(new(mark), afterCollection)
	}
}

// A mark is garbage whose finalizer runs after each collection. It contains a pointer, because the allocator can
// combine small objects without pointers and keep them alive.
type mark struct{ _ *mark }

// afterCollection sets the limit until the next collection, and arms itself again. It returns memory to the system
// after a peak.
func afterCollection(m *mark) {
	live, free := heap()
	if live > 0 {
		debug.SetGCPercent(growth(live, most.Load()))
	}
	if excess(live, free) {
		debug.FreeOSMemory()
	}
	runtime.SetFinalizer(m, afterCollection)
}

// heap returns the live bytes, and the free ones not returned to the system; 0 if unknown.
func heap() (live, free int64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			return 0, 0
		}
	}
	return int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())
}

// excess reports whether much more is free than the heap grows until the next collection, so that returning it,
// which is a collection, stays rare.
func excess(live, free int64) bool {
	return free > live*int64(growth(live, collectLess))/100+max(live, room)
}

// growth returns how much the heap may grow, in per cent of its live bytes.
func growth(live, most int64) int {
	return int(min(most, max(collectMore, room*100/max(1, live))))
}
