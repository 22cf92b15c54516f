package job

import "github.com/oxgang/oxgang/internal/memory"

// Remember implements memory.Rememberer.
func (s *Status) Remember(m *memory.Codec) {
	m.Fields((*uint8)(&s.Phase), &s.Submitted, &s.FirstStarted, &s.Finished, &s.Since, &s.Service, &s.GPUService, &s.Restarts, &s.Progress,
		&s.Reported, &s.Epoch, &s.Batch, &s.MaxGPUs, &s.Allocation, &s.Placement)
}

// Remember implements memory.Rememberer.
func (b *BatchSize) Remember(m *memory.Codec) { m.Fields(&b.Local, &b.Accumulation) }
