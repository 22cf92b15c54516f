package command

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
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

func collect(percent int) {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(percent)
	if most.Swap(int64(percent)) == 0 {
		runtime.SetFinalizer(new(mark), afterCollection)
	}
}

// A mark's finalizer runs after each collection. It contains a pointer, because the allocator combines small
// objects without pointers.
type mark struct{ _ *mark }

// afterCollection also returns memory to the system after a peak.
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

func excess(live, free int64) bool {
	return free > live*int64(growth(live, collectLess))/100+max(live, room)
}

func growth(live, most int64) int {
	return int(min(most, max(collectMore, cli.LeastGrowth(), room*100/max(1, live))))
}
