package local

import (
	"fmt"
	"os"
	"strconv"

	"github.com/oxgang/oxgang/model/cluster"
)

// CPU stands for the GPU type of slots that have no GPU.
const CPU cluster.GPUType = "cpu"

// A Machine has the GPUs, slots, cores and memory of this machine.
type Machine struct {
	Name      string // host name
	Type      cluster.GPUType
	GPUMemory int64  // bytes per GPU; 0 without GPUs
	Slots     []slot // in the order of the GPUs
	CPUs      float64
	Cores     []int // cores that processes may run on; nil if unknown
	Memory    int64 // bytes
}

// A slot is a place for one worker: a GPU, a part of a GPU, or a part of the cores.
type slot struct {
	Visible string // CUDA_VISIBLE_DEVICES of its worker; "" hides all GPUs
	Shared  bool   // the GPU has other slots
}

type gpu struct {
	uuid   string // "GPU-...", stable
	name   string // "NVIDIA H200"
	memory int64  // bytes
}

// FindMachine returns the GPUs, cores and memory of this machine, divided into slots. With GPUs, slots must be a
// multiple of their number. 0 means one slot per GPU, or per core without GPUs.
func FindMachine(slots int) (Machine, error) {
	m, err := host()
	if err != nil {
		return Machine{}, fmt.Errorf("device: %w", err)
	}
	gpus, err := smi()
	if err == nil {
		gpus, err = visible(gpus, os.LookupEnv)
	}
	if err == nil {
		err = m.divide(gpus, slots)
	}
	if err != nil {
		return Machine{}, fmt.Errorf("device: %w", err)
	}
	return m, nil
}

func (m *Machine) divide(gpus []gpu, slots int) error {
	if slots < 0 {
		return fmt.Errorf("%d slots, want at least 0", slots)
	}
	if len(gpus) == 0 {
		m.Type = CPU
		if slots == 0 {
			slots = max(1, int(m.CPUs))
		}
		m.Slots = make([]slot, slots)
		return nil
	}
	m.Type, m.GPUMemory = typeOf(gpus[0].name), gpus[0].memory
	for _, g := range gpus {
		if t := typeOf(g.name); t != m.Type {
			return fmt.Errorf("GPUs of types %s and %s, want one type: name those to use in CUDA_VISIBLE_DEVICES", m.Type, t)
		}
		m.GPUMemory = min(m.GPUMemory, g.memory)
	}
	return m.share(gpus, slots)
}

func (m *Machine) share(gpus []gpu, slots int) error {
	if slots == 0 {
		slots = len(gpus)
	}
	if slots%len(gpus) != 0 {
		return fmt.Errorf("%d slots on %d GPUs, want a multiple of the number of GPUs", slots, len(gpus))
	}
	each := slots / len(gpus)
	for _, g := range gpus {
		for range each {
			m.Slots = append(m.Slots, slot{g.uuid, each > 1})
		}
	}
	return nil
}

// workers returns how many workers of one job can run at the same time.
func (m Machine) workers() int {
	gpus := map[string]bool{}
	for _, s := range m.Slots {
		if !s.Shared {
			return len(m.Slots)
		}
		gpus[s.Visible] = true
	}
	return len(gpus)
}

// Node returns the machine as a node of a cluster, whose GPUs are the slots. Slots that share a GPU divide its memory.
func (m Machine) Node() cluster.Node {
	n := cluster.Node{
		ID: cluster.NodeID(m.Name), GPUType: m.Type, GPUMemory: m.GPUMemory,
		Capacity: cluster.Resources{GPUs: len(m.Slots), CPUs: m.CPUs, Memory: m.Memory},
	}
	on := map[string]int{}
	for _, s := range m.Slots {
		on[s.Visible]++
		n.GPUMemory = min(n.GPUMemory, m.GPUMemory/int64(on[s.Visible]))
	}
	return n
}

func host() (Machine, error) {
	name, err := os.Hostname()
	if err != nil {
		return Machine{}, err
	}
	memory, err := memory()
	if err != nil {
		return Machine{}, err
	}
	cpus, err := cores()
	return Machine{Name: name, CPUs: cpus, Cores: affinity(), Memory: memory}, err
}

func bytesOf(s string, unit int64) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > (1<<50)/unit {
		return 0, fmt.Errorf("%q, want a number of bytes from 0 to 2^50", s)
	}
	return n * unit, nil
}
