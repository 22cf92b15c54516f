package estimate

import (
	"hash/maphash"

	"github.com/oxgang/oxgang/perf"
)

// A Cache remembers fits by their observations. A job's agent and the
// scheduler see the same reports; with a shared cache each fit is paid for
// once. It is not safe for concurrent use. The nil Cache remembers nothing.
type Cache struct {
	seed maphash.Seed
	fits map[uint64]perf.Params
	tool Fitter
}

// cacheLimit bounds a cache; a full one is emptied.
const cacheLimit = 1 << 14

// NewCache returns an empty Cache.
func NewCache() *Cache {
	return &Cache{seed: maphash.MakeSeed(), fits: make(map[uint64]perf.Params)}
}

func (c *Cache) fit(obs []perf.Observation) perf.Params {
	if c == nil {
		p, _ := Fit(obs, nil)
		return p
	}
	key := c.key(obs)
	if p, ok := c.fits[key]; ok {
		return p
	}
	if len(c.fits) >= cacheLimit {
		clear(c.fits)
	}
	p, _ := c.tool.Fit(obs, nil)
	c.fits[key] = p
	return p
}

func (c *Cache) key(obs []perf.Observation) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, o := range obs {
		maphash.WriteComparable(&h, o)
	}
	return h.Sum64()
}
