package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// encoding/json writes lines that are rare. It sorts the keys of maps.

type nodeLine struct {
	ID        cluster.NodeID  `json:"id"`
	Type      cluster.GPUType `json:"type"`
	GPUs      int             `json:"gpus"`
	CPUs      float64         `json:"cpus,omitzero"`
	Memory    int64           `json:"memory,omitzero"`
	GPUMemory int64           `json:"gpu_memory,omitzero"`
	Group     cluster.Group   `json:"group,omitzero"`
	Tenure    cluster.Tenure  `json:"tenure,omitzero"`
	Price     cluster.Price   `json:"price,omitzero"`
	// Interruptions are per hour.
	Interruptions float64 `json:"interruptions,omitzero"`
	Power         float64 `json:"power,omitzero"`
	Rack          string  `json:"rack,omitzero"`
	NVLinkDomain  string  `json:"nvlink_domain,omitzero"`
}

func nodeLines(c *cluster.Cluster) []nodeLine {
	lines := make([]nodeLine, len(c.Nodes()))
	for i, n := range c.Nodes() {
		lines[i] = makeNodeLine(&n)
	}
	return lines
}

func makeNodeLine(n *cluster.Node) nodeLine {
	return nodeLine{
		n.ID, n.GPUType, n.Capacity.GPUs, n.Capacity.CPUs, n.Capacity.Memory, n.GPUMemory,
		n.Group, n.Tenure, n.Price, n.Interruptions, n.Power, n.Rack, n.NVLinkDomain,
	}
}

func (l *nodeLine) node() cluster.Node {
	return cluster.Node{
		ID: l.ID, GPUType: l.Type, GPUMemory: l.GPUMemory,
		Capacity: cluster.Resources{GPUs: l.GPUs, CPUs: l.CPUs, Memory: l.Memory},
		Group:    l.Group, Tenure: l.Tenure, Price: l.Price, Interruptions: l.Interruptions, Power: l.Power, Rack: l.Rack, NVLinkDomain: l.NVLinkDomain,
	}
}

type rentalLine struct {
	Node     nodeLine `json:"node"`
	Most     int      `json:"most"`
	Ready    int      `json:"ready,omitzero"`
	Starting int      `json:"starting,omitzero"`
	Leaving  int      `json:"leaving,omitzero"`
	Refused  bool     `json:"refused,omitzero"`
}

func rentalLines(all []cluster.Rental) []rentalLine {
	lines := make([]rentalLine, len(all))
	for i := range all {
		r := &all[i]
		lines[i] = rentalLine{makeNodeLine(&r.Node), r.Most, r.Ready, r.Starting, r.Leaving, r.Refused}
	}
	return lines
}

func makeRentals(lines []rentalLine) ([]cluster.Rental, error) {
	var all []cluster.Rental
	kinds := make([]nodeLine, len(lines))
	for i := range lines {
		l := &lines[i]
		for _, n := range []int{l.Most, l.Ready, l.Starting, l.Leaving} {
			if n < 0 || n > maxGPUs {
				return nil, fmt.Errorf("group %q: %d nodes, want 0 to %d", l.Node.Group, n, maxGPUs)
			}
		}
		r := cluster.Rental{Ready: l.Ready, Starting: l.Starting, Leaving: l.Leaving, Refused: l.Refused}
		r.Offer = cluster.Offer{Group: l.Node.Group, Node: l.Node.node(), Most: l.Most}
		all = append(all, r)
		kinds[i] = l.Node
		kinds[i].ID = cluster.NodeID("group " + string(l.Node.Group))
	}
	_, err := makeCluster(kinds)
	return all, err
}

const maxGPUs = 1 << 30

func makeCluster(lines []nodeLine) (*cluster.Cluster, error) {
	nodes := make([]cluster.Node, len(lines))
	for i, l := range lines {
		if l.GPUs > maxGPUs {
			return nil, fmt.Errorf("node %q: %d GPUs, want at most %d", l.ID, l.GPUs, maxGPUs)
		}
		nodes[i] = l.node()
	}
	return cluster.New(nodes)
}

type specLine struct {
	ID              job.ID                  `json:"id"`
	Name            string                  `json:"name,omitzero"`
	User            string                  `json:"user,omitzero"`
	Queue           string                  `json:"queue,omitzero"`
	Class           job.Class               `json:"class,omitzero"`
	Weight          float64                 `json:"weight,omitzero"`
	Priority        float64                 `json:"priority,omitzero"`
	GPUs            int                     `json:"gpus"`
	BatchSize       int                     `json:"batch,omitzero"`
	MinGPUs         int                     `json:"min_gpus,omitzero"`
	MaxGPUs         int                     `json:"max_gpus,omitzero"`
	GPUsPerReplica  map[cluster.GPUType]int `json:"gpus_per_replica,omitzero"`
	MicroBatches    int                     `json:"micro_batches,omitzero"`
	Equivalents     map[cluster.GPUType]int `json:"equivalents,omitzero"`
	MixedSpeed      float64                 `json:"mixed_speed,omitzero"`
	WorkerGPUs      int                     `json:"worker_gpus,omitzero"`
	Resizes         bool                    `json:"resizes,omitzero"`
	NoCheckpoint    bool                    `json:"no_checkpoint,omitzero"`
	GPUTypes        []cluster.GPUType       `json:"types,omitempty"`
	Parts           []job.Part              `json:"parts,omitempty"`
	CPUs            float64                 `json:"cpus,omitzero"`
	Memory          int64                   `json:"memory,omitzero"`
	Working         int64                   `json:"working,omitzero"`
	Dataset         int64                   `json:"dataset,omitzero"`
	Storage         float64                 `json:"storage,omitzero"`
	Adaptivity      job.Adaptivity          `json:"adaptivity,omitzero"`
	BatchInit       int                     `json:"batch_init,omitzero"`
	BatchMax        int                     `json:"batch_max,omitzero"`
	LocalMin        int                     `json:"local_min,omitzero"`
	LocalMax        map[cluster.GPUType]int `json:"local_max,omitzero"`
	Schedule        job.ScheduleMode        `json:"schedule,omitzero"`
	Epochs          int                     `json:"epochs,omitempty"`
	Sizes           []int                   `json:"sizes,omitempty"`
	Regimes         []regimeLine            `json:"regimes,omitempty"`
	Goal            job.Goal                `json:"goal,omitzero"`
	Latency         Seconds                 `json:"latency,omitzero"`
	Target          float64                 `json:"target,omitzero"`
	Timed           bool                    `json:"timed,omitzero"`
	RestartOverhead Seconds                 `json:"restart,omitzero"`
	NonPreemptive   bool                    `json:"non_preemptive,omitzero"`
	ReservedNodes   int                     `json:"reserved_nodes,omitzero"`
	ReservedGPUs    int                     `json:"reserved_gpus,omitzero"`
	ReservedType    cluster.GPUType         `json:"reserved_type,omitzero"`
}

type regimeLine [2]int

func regimeLines(all []job.Regime) []regimeLine {
	var lines []regimeLine
	for _, r := range all {
		lines = append(lines, regimeLine{r.BatchSize, r.Epochs})
	}
	return lines
}

func regimes(lines []regimeLine) []job.Regime {
	var all []job.Regime
	for _, l := range lines {
		all = append(all, job.Regime{BatchSize: l[0], Epochs: l[1]})
	}
	return all
}

func makeSpecLine(s *job.Spec) specLine {
	return specLine{
		s.ID, s.Name, s.User, s.Queue, s.Class, s.Weight, s.Priority, s.GPUs, s.BatchSize, s.MinGPUs, s.MaxGPUs,
		s.GPUsPerReplica, s.MicroBatches, s.Equivalents, s.MixedSpeed, s.WorkerGPUs, s.Resizes, s.NoCheckpoint, s.GPUTypes, s.Parts, s.CPUs, s.Memory, s.Input.Working, s.Input.Dataset, s.Input.Storage, s.Adaptivity,
		s.Batch.Init, s.Batch.Max, s.Batch.LocalMin, s.Batch.LocalMax,
		s.Schedule.Mode, s.Schedule.Epochs, s.Schedule.Sizes, regimeLines(s.Schedule.Regimes),
		s.Goal, Seconds(s.Latency), s.Target, s.Timed, Seconds(s.RestartOverhead), s.NonPreemptive,
		s.Reservation.Nodes, s.Reservation.GPUs, s.Reservation.GPUType,
	}
}

func (l *specLine) spec() *job.Spec {
	return &job.Spec{
		ID: l.ID, Name: l.Name, User: l.User, Queue: l.Queue, Class: l.Class, Weight: l.Weight, Priority: l.Priority,
		GPUs: l.GPUs, BatchSize: l.BatchSize, MinGPUs: l.MinGPUs, MaxGPUs: l.MaxGPUs,
		GPUsPerReplica: l.GPUsPerReplica, MicroBatches: l.MicroBatches, GPUTypes: l.GPUTypes, Parts: l.Parts,
		Equivalents: l.Equivalents, MixedSpeed: l.MixedSpeed, WorkerGPUs: l.WorkerGPUs, Resizes: l.Resizes, NoCheckpoint: l.NoCheckpoint,
		CPUs: l.CPUs, Memory: l.Memory, Input: job.Input{Working: l.Working, Dataset: l.Dataset, Storage: l.Storage}, Adaptivity: l.Adaptivity,
		Batch:    job.BatchLimits{Init: l.BatchInit, Max: l.BatchMax, LocalMin: l.LocalMin, LocalMax: l.LocalMax},
		Schedule: job.BatchSchedule{Mode: l.Schedule, Epochs: l.Epochs, Sizes: l.Sizes, Regimes: regimes(l.Regimes)},
		Goal:     l.Goal, Latency: time.Duration(l.Latency), Target: l.Target, Timed: l.Timed,
		RestartOverhead: time.Duration(l.RestartOverhead), NonPreemptive: l.NonPreemptive,
		Reservation: cluster.Configuration{Nodes: l.ReservedNodes, GPUs: l.ReservedGPUs, GPUType: l.ReservedType},
	}
}

func parseSpec(text []byte) (*job.Spec, error) {
	var l specLine
	if err := unmarshal(text, &l); err != nil {
		return nil, err
	}
	if l.ID == "" {
		return nil, errors.New("no job ID")
	}
	for _, n := range []int{l.GPUs, l.BatchSize, l.MinGPUs, l.MaxGPUs, l.ReservedNodes, l.ReservedGPUs} {
		if n < 0 || n > maxGPUs {
			return nil, fmt.Errorf("job %s: got a count of %d, want 0 to %d", l.ID, n, maxGPUs)
		}
	}
	for _, p := range l.Parts {
		if p.GPUs < 0 || p.GPUs > maxGPUs || !slices.IsSorted(p.Nodes) {
			return nil, fmt.Errorf("job %s: a part of %d GPUs on nodes %q, want 0 to %d GPUs on nodes in ascending order", l.ID, p.GPUs, p.Nodes, maxGPUs)
		}
	}
	if l.Schedule > job.Given {
		return nil, fmt.Errorf("job %s: schedule %d, want at most %d", l.ID, uint8(l.Schedule), uint8(job.Given))
	}
	return l.spec(), nil
}

func unmarshal(text []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("more after the end of the record")
	}
	return nil
}
