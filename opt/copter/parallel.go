package copter

import "sync"

func parallel(threads, n int, do func(k int)) {
	if threads = min(threads, n); threads <= 1 {
		for k := range n {
			do(k)
		}
		return
	}
	var wait sync.WaitGroup
	for t := range threads {
		wait.Go(func() {
			for k := t; k < n; k += threads {
				do(k)
			}
		})
	}
	wait.Wait()
}
