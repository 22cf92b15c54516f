package config

import (
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/cluster"
)

// Equivalents returns how many GPUs of a type do the work of one that jobs count, as parts of
// the cluster that end in "/loan@3" have it. A type that is not there counts as 1; nil: no
// part is on loan.
func (c *Config) Equivalents() map[cluster.GPUType]int {
	var all map[cluster.GPUType]int
	for _, part := range split(c.Cluster) {
		at := strings.LastIndexByte(part, '/')
		last, isLoan := strings.CutPrefix(part[at+1:], "loan")
		if !isLoan {
			continue
		}
		if all == nil {
			all = make(map[cluster.GPUType]int)
		}
		name, _, _ := strings.Cut(part, ":")
		if n, err := strconv.Atoi(strings.TrimPrefix(last, "@")); err == nil && n > 1 {
			all[cluster.GPUType(name)] = n
		}
	}
	return all
}
