package schedulertest

import (
	"time"

	"github.com/oxgang/oxgang/model/job"
)

type memory struct {
	least float64 // of the next report
	saved float64
	epoch int
	marks []mark // since the last loss, and perhaps in no checkpoint
}

type mark struct {
	at       time.Time
	progress float64
}

// learn records a report. With checkpoints at the ends of epochs, progress of an earlier epoch is saved.
func (m *memory) learn(now time.Time, every time.Duration, r *job.Report) {
	if every == 0 && r.Epoch > m.epoch {
		m.saved = max(m.saved, m.least)
	}
	m.least, m.epoch = r.Progress, r.Epoch
	if every > 0 {
		m.save(now, every)
		m.marks = append(m.marks, mark{now, r.Progress})
	}
}

func (m *memory) save(now time.Time, every time.Duration) {
	for len(m.marks) > 0 && !m.marks[0].at.Add(every).After(now) {
		m.saved = max(m.saved, m.marks[0].progress)
		m.marks = m.marks[1:]
	}
}

func (m *memory) checkpoint() { m.saved, m.marks = max(m.saved, m.least), nil }

func (m *memory) lose(now time.Time, every time.Duration) {
	m.save(now, every)
	m.least, m.marks = m.saved, nil
}

func fallen(progress, least float64) bool { return progress < least-1e-6*max(1, least) }
