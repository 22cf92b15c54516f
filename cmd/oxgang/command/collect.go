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

// afterCollection sets how much the heap may grow until the next collection, and is called again after that.
func afterCollection(m *mark) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(sample); sample[0].Value.Kind() == metrics.KindUint64 {
		debug.SetGCPercent(growth(int64(sample[0].Value.Uint64()), most.Load()))
	}
	runtime.SetFinalizer(m, afterCollection)
}

// growth returns how much the heap may grow beyond so many live bytes, in per cent of them, at most so many.
func growth(live, most int64) int {
	return int(min(most, max(collectMore, room*100/max(1, live))))
}
