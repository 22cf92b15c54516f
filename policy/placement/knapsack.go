package placement

import (
	"math"
	"slices"
)

// visits bounds the search of one node. With eight jobs on a server of the paper, fewer than 1 % of the
// searches need that many.
const visits = 4000

type item struct {
	job   int
	cells []Cell
	gpus  float64
	worth float64 // factor of the values of its cells
	pick  int
	best  int
	rest  float64 // bound on what it and all later items add, net of prices
}

func (t *item) uses(k int) (cpus, memory, value float64) {
	c, first := &t.cells[k], &t.cells[0]
	return t.gpus * (c.CPUs - first.CPUs), t.gpus * float64(c.Memory-first.Memory), t.worth * (c.Value - first.Value)
}

// A knapsack chooses one cell for each job of a node, within the node's CPUs and memory, so that the total
// value is largest.
//
// It is a branch and bound with Lagrangian prices for CPUs and memory: an open job adds at most the value of
// its best cell minus the cell's price, and all that is free adds at most its price.
type knapsack struct {
	cpus, memory float64 // available beyond the first cells
	items        []item
	price        [2]float64
	best         float64
	left         int
}

func (k *knapsack) add(job int, cells []Cell, gpus, worth float64) {
	k.cpus -= gpus * cells[0].CPUs
	k.memory -= gpus * float64(cells[0].Memory)
	if len(cells) > 1 {
		k.items = append(k.items, item{job: job, cells: cells, gpus: gpus, worth: worth})
	}
}

func (k *knapsack) solve() float64 {
	k.left = visits
	if v, ok := k.all(); ok {
		return v
	}
	k.climb()
	k.setPrices()
	slices.SortStableFunc(k.items, func(a, b item) int { return len(b.cells) - len(a.cells) })
	k.bound()
	k.search(0, k.cpus, k.memory, 0)
	for i := range k.items {
		k.items[i].pick = k.items[i].best
	}
	return k.best
}

func (k *knapsack) all() (value float64, ok bool) {
	cpus, memory := k.cpus, k.memory
	for i := range k.items {
		t := &k.items[i]
		t.pick = len(t.cells) - 1
		c, m, v := t.uses(t.pick)
		cpus, memory, value = cpus-c, memory-m, value+v
	}
	return value, cpus >= 0 && memory >= 0
}

func (k *knapsack) climb() {
	cpus, memory := k.cpus, k.memory
	k.best = 0
	for i := range k.items {
		k.items[i].best = 0
	}
	for {
		at, to, rate := -1, 0, 0.0
		var most [3]float64
		for i := range k.items {
			t := &k.items[i]
			c0, m0, v0 := t.uses(t.best)
			for x := t.best + 1; x < len(t.cells); x++ {
				c, m, v := t.uses(x)
				c, m, v = c-c0, m-m0, v-v0
				if c > cpus || m > memory {
					break
				}
				if r := v / (c/(k.cpus+1e-12) + m/(k.memory+1)); r > rate {
					at, to, rate, most = i, x, r, [3]float64{c, m, v}
				}
			}
		}
		if at < 0 {
			return
		}
		k.items[at].best = to
		cpus, memory, k.best = cpus-most[0], memory-most[1], k.best+most[2]
	}
}

func (k *knapsack) setPrices() {
	k.price = [2]float64{}
	for _, r := range [...]int{0, 1, 0} {
		k.setPrice(r)
	}
}

func (k *knapsack) setPrice(r int) {
	there := [2]float64{k.cpus, k.memory}[r]
	k.price[r] = 0
	if k.asked(r) <= there || there <= 0 {
		return
	}
	low, high := 0.0, 1/there
	for k.price[r] = high; k.asked(r) > there && high < 1e6/there; k.price[r] = high {
		low, high = high, 4*high
	}
	for range 6 {
		k.price[r] = (low + high) / 2
		if k.asked(r) > there {
			low = k.price[r]
		} else {
			high = k.price[r]
		}
	}
	k.price[r] = high
}

func (k *knapsack) asked(r int) (sum float64) {
	for i := range k.items {
		t := &k.items[i]
		_, at := k.favourite(t)
		c, m, _ := t.uses(at)
		sum += [2]float64{c, m}[r]
	}
	return sum
}

func (k *knapsack) favourite(t *item) (value float64, at int) {
	value = math.Inf(-1)
	for x := range t.cells {
		c, m, v := t.uses(x)
		if v -= k.price[0]*c + k.price[1]*m; v > value {
			value, at = v, x
		}
	}
	return value, at
}

func (k *knapsack) bound() {
	rest := 0.0
	for i := len(k.items) - 1; i >= 0; i-- {
		v, _ := k.favourite(&k.items[i])
		rest += v
		k.items[i].rest = rest
	}
}

func (k *knapsack) search(i int, cpus, memory, value float64) {
	if i == len(k.items) {
		if value > k.best+1e-12 {
			k.best = value
			for x := range k.items {
				k.items[x].best = k.items[x].pick
			}
		}
		return
	}
	t := &k.items[i]
	if value+t.rest+k.price[0]*cpus+k.price[1]*memory <= k.best+1e-9 {
		return
	}
	for x := range slices.Backward(t.cells) {
		c, m, v := t.uses(x)
		if c > cpus || m > memory {
			continue
		}
		if k.left--; k.left < 0 {
			return
		}
		t.pick = x
		k.search(i+1, cpus-c, memory-m, value+v)
	}
}
