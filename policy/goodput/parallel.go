package goodput

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// share is how many rows a worker takes at a time. Fewer are not worth a goroutine.
const share = 32

// refreshAll brings rows up to date. No row depends on another, models are immutable and answer alike whoever asks
// first: so the rows are the same on any number of processors.
func (p *Program) refreshAll(stale []staleRow) {
	Each(len(stale), func(i int) { p.refresh(stale[i]) })
}

// Each calls a function with 0 to n-1, on all processors where there are enough of them. What it does for one must not
// depend on what it does for another. If it panics, so does Each.
func Each(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n/share)
	if workers < 2 {
		for i := range n {
			do(i)
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
				if end-share >= n {
					return
				}
				for i := end - share; i < min(end, n); i++ {
					do(i)
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
