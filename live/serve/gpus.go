package serve

import (
	"time"

	"github.com/oxgang/oxgang/live/gpuuse"
	"github.com/oxgang/oxgang/live/local"
	"github.com/oxgang/oxgang/live/status"
)

const (
	measured = 15 * time.Second // between reads of the use of GPUs
	logging  = time.Hour        // between lines in the log of idle GPUs
)

func (c *controller) newMeter() *gpuuse.Meter {
	if c.machine.Type == local.CPU {
		return nil
	}
	var uuids []string
	for _, s := range c.machine.Slots {
		uuids = append(uuids, s.Visible)
	}
	return gpuuse.NewMeter(gpuuse.Read(gpuuse.SMI).Only(uuids), measured)
}

// measure counts the last read. No viewer has to ask for the status.
func (c *controller) measure() {
	s := &status.Status{Backend: status.Machine, Title: c.machine.Name, At: time.Now(), Nodes: []status.Node{c.Node()}}
	for _, l := range c.backend.Live() {
		s.Jobs = append(s.Jobs, status.Job{ID: l.Spec.ID, GPUs: len(l.Held), Since: l.Status.Since})
	}
	c.meter.Attach(s, nil)
	if time.Since(c.logged) < logging {
		return
	}
	c.logged = time.Now()
	if err := c.meter.Append(JournalFolder(c.o.Dir)); err != nil {
		c.say("%v", err)
	}
}
