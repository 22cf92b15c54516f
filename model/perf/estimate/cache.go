package estimate

import (
	"hash/maphash"

	"github.com/oxgang/oxgang/model/perf"
)

// A Cache stores fitted throughput models, so that the same measurements are fitted only once in a simulation. A nil
// Cache stores nothing.
type Cache struct {
	// Minimize is the minimiser for mode PublicCode. If it is nil, that mode has no fits.
	Minimize Minimizer

	seed   maphash.Seed
	fits   map[uint64]perf.Params
	best   fitter
	public publicFitter
}

const cacheLimit = 1 << 14

// NewCache returns an empty Cache.
func NewCache() *Cache {
	return &Cache{seed: maphash.MakeSeed(), fits: make(map[uint64]perf.Params)}
}

func (c *Cache) fit(mode Mode, obs []perf.Observation) perf.Params {
	if c == nil {
		var fresh Cache
		return fresh.compute(mode, obs)
	}
	key := c.key(mode, obs)
	if p, ok := c.fits[key]; ok {
		return p
	}
	if len(c.fits) >= cacheLimit {
		clear(c.fits)
	}
	p := c.compute(mode, obs)
	c.fits[key] = p
	return p
}

func (c *Cache) compute(mode Mode, obs []perf.Observation) (p perf.Params) {
	if mode == PublicCode {
		c.public.Minimize = c.Minimize
		p, _ = c.public.Fit(obs)
	} else {
		p, _ = c.best.Fit(obs, nil)
	}
	return p
}

func (c *Cache) key(mode Mode, obs []perf.Observation) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	maphash.WriteComparable(&h, mode == PublicCode)
	for _, o := range obs {
		maphash.WriteComparable(&h, o)
	}
	return h.Sum64()
}
