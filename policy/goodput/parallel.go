package goodput

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// share is how many rows a worker takes at a time. Fewer are not worth a goroutine.
const share = 32

// refreshAll brings rows up to date, on all processors where there are enough. No row depends on
// another, models are immutable and answer alike whoever asks first: so the rows are the same on any
// number of processors.
func (p *Program) refreshAll(stale []staleRow) {
	workers := min(runtime.GOMAXPROCS(0), len(stale)/share)
	if workers < 2 {
		for _, t := range stale {
			p.refresh(t)
		}
		return
	}
	var (
		all      sync.WaitGroup
		taken    atomic.Int64
		panicked atomic.Value
	)
	for range workers {
		all.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					panicked.CompareAndSwap(nil, wrapped{r})
				}
			}()
			for {
				end := int(taken.Add(share))
				if end-share >= len(stale) {
					return
				}
				for _, t := range stale[end-share : min(end, len(stale))] {
					p.refresh(t)
				}
			}
		})
	}
	all.Wait()
	if r := panicked.Load(); r != nil {
		panic(r.(wrapped).value) // on the goroutine of the caller, which recovers from what policies do
	}
}

// wrapped makes values of any type one type, as atomic.Value wants it.
type wrapped struct{ value any }
