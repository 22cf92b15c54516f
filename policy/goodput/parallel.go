package goodput

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const share = 32

// refreshAll updates rows. Rows are independent and models immutable, so the result does not depend on the number of
// processors.
func (p *Program) refreshAll(stale []staleRow) {
	first, later := p.duplicates(stale)
	Each(len(first), func(i int) { p.refresh(first[i]) })
	for _, t := range later {
		p.copyRow(t)
	}
}

// Each calls do with each number from 0 to n-1, in parallel if n is large enough. The calls must not depend on each
// other. If one panics, Each panics.
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
		panic(r.(wrapped).value) // on the goroutine of the caller, which recovers from panics of policies
	}
}

type wrapped struct{ value any }
