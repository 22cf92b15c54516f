package reclaim

import (
	"slices"

	"github.com/oxgang/oxgang/model/job"
)

type serverSet struct {
	servers    []Server
	ids        []job.ID
	returnable []int   // servers that can go back
	jobs       [][]int // by server: jobs with base workers
	on         [][]int // by job: servers with base workers
	flexible   []int   // by server: GPUs
	used       []int   // by server: GPUs of base workers
	total      []int   // by job: GPUs of base workers
}

func newServerSet(servers []Server) *serverSet {
	n := len(servers)
	w := &serverSet{servers: servers, jobs: make([][]int, n), flexible: make([]int, n), used: make([]int, n)}
	numbers, pinned := map[job.ID]int{}, map[job.ID]bool{}
	for s, server := range servers {
		for _, h := range server.Holdings {
			w.add(s, h, numbers)
			pinned[h.Job] = pinned[h.Job] || h.Pinned
		}
	}
	for s := range servers {
		if !slices.ContainsFunc(w.jobs[s], func(j int) bool { return pinned[w.ids[j]] }) {
			w.returnable = append(w.returnable, s)
		}
	}
	return w
}

func (w *serverSet) add(s int, h Share, numbers map[job.ID]int) {
	if h.Flexible {
		w.flexible[s] += h.GPUs
		return
	}
	j, known := numbers[h.Job]
	if !known {
		j = len(w.ids)
		numbers[h.Job] = j
		w.ids, w.on = append(w.ids, h.Job), append(w.on, nil)
		w.total = append(w.total, 0)
	}
	w.jobs[s], w.on[j] = append(w.jobs[s], j), append(w.on[j], s)
	w.used[s] += h.GPUs
	w.total[j] += h.GPUs
}

func (w *serverSet) busy() []int {
	var busy []int
	for _, s := range w.returnable {
		if len(w.jobs[s]) > 0 {
			busy = append(busy, s)
		}
	}
	return busy
}

func (w *serverSet) answer(picked []int) *Answer {
	slices.Sort(picked)
	a := &Answer{}
	lost := map[job.ID]bool{}
	for _, s := range picked {
		a.Servers = append(a.Servers, w.servers[s].ID)
		a.Damage -= w.used[s]
		if len(w.jobs[s]) == 0 {
			a.Free++
		}
		for _, j := range w.jobs[s] {
			if !lost[w.ids[j]] {
				lost[w.ids[j]] = true
				a.Preempted = append(a.Preempted, w.ids[j])
				a.Damage += w.total[j]
			}
		}
	}
	slices.Sort(a.Preempted)
	a.Scaled = w.scaled(picked, lost)
	return a
}

func (w *serverSet) scaled(picked []int, lost map[job.ID]bool) int {
	sum := 0
	for _, s := range picked {
		for _, h := range w.servers[s].Holdings {
			if h.Flexible && !lost[h.Job] {
				sum += h.GPUs
			}
		}
	}
	return sum
}
