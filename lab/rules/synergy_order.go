package rules

import "github.com/oxgang/oxgang/policy/synergy"

// publicKeys are the simulator's sort keys: least first, ties by submission. Source: Synergy simulator.
var publicKeys = map[string]func(*publicRound, *candidate) float64{
	"fifo": func(*publicRound, *candidate) float64 { return 0 },
	"srtf": (*publicRound).left,
	"las": func(r *publicRound, c *candidate) float64 {
		return c.AttainedGPUService(r.s.Now).Seconds()
	},
	"ftf": func(r *publicRound, c *candidate) float64 {
		return (c.Age(r.s.Now).Seconds() + r.left(c)) / (c.Target / c.rate)
	},
	"drf": func(r *publicRound, c *candidate) float64 {
		gpus, cpus, memory := r.demanded(c)
		return max(gpus, cpus, memory)
	},
	"tetris": func(r *publicRound, c *candidate) float64 {
		gpus, cpus, memory := r.demanded(c)
		return (gpus + cpus + memory) * r.left(c)
	},
}

// left returns the remaining seconds at the speed of the full demand, or of the share if it was cut to that, or
// under Proportional.
func (r *publicRound) left(c *candidate) float64 {
	left := (c.Target - c.Progress) / c.rate
	cut := c.Holding() && (c.Allocation.CPUs < c.full.CPUs*(1-1e-9) || c.Allocation.Memory < c.full.Memory)
	if r.o.Mechanism == synergy.Proportional || cut {
		return left
	}
	return left / c.gain
}

func (r *publicRound) demanded(c *candidate) (gpus, cpus, memory float64) {
	return float64(c.gpus) / float64(r.t.GPUs), c.full.CPUs / r.t.CPUs, float64(c.full.Memory) / float64(r.t.Memory)
}
