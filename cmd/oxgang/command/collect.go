package command

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// room is how much the heap may grow between two collections, in bytes, where that is at least collectMore
// and at most collectLess per cent of what is live: a run keeps little alive, a few hundred bytes per job, and
// makes much that lasts one round.
const (
	room        = 32 << 20
	collectLess = 400
	collectMore = 50
)

// most is the most per cent that the heap may grow by; 0: the environment says how much.
var most atomic.Int64

// collect lets the heap grow by at most so many per cent from now on, unless GOGC is set.
func collect(percent int) {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(percent)
	if most.Swap(int64(percent)) == 0 {
		runtime.SetFinalizer(new(mark), afterCollection)
	}
}

// A mark is garbage: that it was collected says that there was a collection. It has a pointer, because the
// smallest objects without one share their memory with others, and may be kept by them.
type mark struct{ _ *mark }

// afterCollection sets how much the heap may grow until the next collection, and is called again after that. Memory that
// much was once in, as all arrivals of a run before it begins, goes back to the system.
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

// heap returns how many bytes are live, and how many are in no use and not given back; 0 if that is not known.
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

// excess reports whether more is free than the heap grows by until the next collection, by as much as is live, so that
// giving it back, which is a collection, is rare.
func excess(live, free int64) bool {
	return free > live*int64(growth(live, collectLess))/100+max(live, room)
}

// growth returns how much the heap may grow beyond so many live bytes, in per cent of them, at most so many.
func growth(live, most int64) int {
	return int(min(most, max(collectMore, room*100/max(1, live))))
}
