package local

import "golang.org/x/sys/unix"

// Source: sched_getaffinity(2).
func affinity() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var cores []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cores = append(cores, cpu)
		}
	}
	return cores
}
