package job

import (
	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
)

// Remember implements memory.Rememberer.
func (s *Spec) Remember(m *memory.Codec) {
	m.Fields((*string)(&s.ID), &s.Name, &s.User, &s.Queue, (*string)(&s.Class), &s.Weight, &s.Priority, &s.GPUs, &s.BatchSize, &s.MinGPUs, &s.MaxGPUs,
		&s.MicroBatches, &s.MixedSpeed, &s.WorkerGPUs, &s.Resizes, &s.NoCheckpoint, &s.CPUs, &s.Memory, &s.Input, (*uint8)(&s.Adaptivity), &s.Batch,
		&s.Schedule, (*uint8)(&s.Goal), &s.Latency, &s.Target, &s.Timed, &s.RestartOverhead, &s.NonPreemptive, &s.Reservation)
	memory.Map(m, &s.GPUsPerReplica, memory.Number)
	memory.Map(m, &s.Equivalents, memory.Number)
	memory.Slice(m, &s.GPUTypes, func(t *cluster.GPUType, m *memory.Codec) { m.Fields((*string)(t)) })
}

// Remember implements memory.Rememberer.
func (i *Input) Remember(m *memory.Codec) { m.Fields(&i.Working, &i.Dataset, &i.Storage) }

// Remember implements memory.Rememberer.
func (l *BatchLimits) Remember(m *memory.Codec) {
	m.Fields(&l.Init, &l.Max, &l.LocalMin)
	memory.Map(m, &l.LocalMax, memory.Number)
}

// Remember implements memory.Rememberer.
func (b *BatchSchedule) Remember(m *memory.Codec) {
	m.Fields((*uint8)(&b.Mode), &b.Epochs, &b.Sizes)
	memory.Slice(m, &b.Regimes, func(r *Regime, m *memory.Codec) { m.Fields(&r.BatchSize, &r.Epochs) })
}

// Remember implements memory.Rememberer.
func (s *Status) Remember(m *memory.Codec) {
	m.Fields((*uint8)(&s.Phase), &s.Submitted, &s.FirstStarted, &s.Finished, &s.Since, &s.Service, &s.GPUService, &s.Restarts, &s.Progress,
		&s.Reported, &s.Epoch, &s.Batch, &s.MaxGPUs, &s.Allocation, &s.Placement)
}

// Remember implements memory.Rememberer.
func (b *BatchSize) Remember(m *memory.Codec) { m.Fields(&b.Local, &b.Accumulation) }
