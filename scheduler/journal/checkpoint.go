package journal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Checkpoint is the complete state of a run after a round. A journal can be read from any of its checkpoints.
type Checkpoint struct {
	At       time.Duration // time since Header.Start
	Nodes    scheduler.NodesChanged
	Jobs     []JobState // not ended, by submission time, then ID
	Prices   []policy.TypePrice
	Capacity map[cluster.Group]int // see policy.Plan
	Refused  string                // why the round's plan was refused, if it was
	// Memory is the encoded state of policy, placer and scheduler; may be empty.
	Memory []byte
}

// A JobState is the state of one job in a checkpoint of a journal. Restored.Reports is empty: reports are records of
// the journal.
type JobState struct {
	scheduler.Restored
	// Decision is the last decision on the job; nil if there is none.
	Decision *policy.Decision
}

const (
	checkpointKey = `"checkpoint":`
	hashedKey     = `{"hashed":"`
	backKey       = `,"back":`
)

// MostMemory is the maximum size of Checkpoint.Memory in bytes.
const MostMemory = maxLine / 4

// Written returns the total size of the journal, and its size since the last checkpoint, in bytes.
func (w *Writer) Written() (total, since int64) { return w.size, w.size - w.after }

// Checkpoint writes the state after the last recorded round. m is the scheduler's state. memory is the encoded state of
// policy, placer and scheduler, less than 16 MiB.
func (w *Writer) Checkpoint(now time.Time, m *scheduler.Memory, memory []byte) {
	if len(memory) > MostMemory {
		w.enc.fail(fmt.Errorf("a checkpoint has %d bytes of memory, want at most %d", len(memory), MostMemory))
	}
	back := w.back
	w.back = w.size
	w.begin(now)
	state, err := w.chain.state()
	if err != nil {
		w.enc.fail(err)
	}
	w.enc.raw("," + checkpointKey + hashedKey)
	w.enc.buf = append(w.enc.buf, state...)
	w.enc.raw(`"` + backKey)
	w.enc.int(int(back))
	w.there = nil // so that the nodes are listed
	nodes := m.Nodes()
	w.enc.raw(",")
	w.nodes(&nodes)
	w.jobStates(m.Active())
	if len(w.prices) > 0 {
		w.enc.raw(`,"prices":`)
		w.enc.prices(w.prices)
	}
	if len(w.wants) > 0 {
		w.enc.raw(`,"capacity":`)
		w.enc.capacity(w.wants)
	}
	if w.refused != "" {
		w.enc.raw(`,"refused":`)
		w.enc.str(w.refused)
	}
	if len(memory) > 0 {
		w.enc.raw(`,"memory":"`)
		w.enc.buf = base64.StdEncoding.AppendEncode(w.enc.buf, memory)
		w.enc.raw(`"`)
	}
	w.enc.raw("}}")
	w.end("checkpoint")
	w.after = w.size
}

func (w *Writer) jobStates(jobs []scheduler.Restored) {
	w.enc.raw(`,"jobs":[`)
	for i := range jobs {
		w.enc.comma(i)
		w.enc.job(&jobs[i])
		if s := w.recorded[jobs[i].Spec.ID]; s != nil {
			w.enc.raw(`,"said":{"why":`)
			w.enc.reason(s.Why)
			w.enc.grant(&policy.Decision{}, &s.Decision)
			w.enc.raw("}")
		}
		w.enc.raw("}")
	}
	w.enc.raw("]")
}

func isCheckpoint(line []byte) bool {
	_, rest, ok := bytes.Cut(line, []byte(","))
	return ok && bytes.HasPrefix(rest, []byte(checkpointKey+hashedKey))
}

func hashed(line []byte) []byte {
	_, rest, _ := bytes.Cut(line, []byte(checkpointKey+hashedKey))
	state, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return nil
	}
	return state
}

func (dec *decoder) checkpoint(known map[job.ID]policy.Decision) (p Checkpoint) {
	for key := range dec.in.keys() {
		switch key {
		case "hashed":
			dec.in.str()
		case "back":
			dec.in.count(1 << 62)
		case "nodes":
			p.Nodes.Cluster = dec.listed()
		case "rentals", "loans":
			dec.offers(key, &p.Nodes)
		case "jobs":
			for range dec.in.items() {
				p.Jobs = append(p.Jobs, dec.jobState(known))
			}
		case "prices":
			for range dec.in.items() {
				p.Prices = append(p.Prices, dec.price())
			}
		case "capacity":
			p.Capacity = dec.capacity()
		case "refused":
			p.Refused = dec.in.str()
		case "memory":
			p.Memory = dec.in.bytes()
		default:
			dec.in.unknown(key)
		}
	}
	if dec.in.err == nil && p.Nodes.Cluster == nil {
		dec.in.err = errors.New("a checkpoint without nodes, want some")
	}
	dec.there, dec.wants = p.Nodes.Cluster, p.Capacity
	return p
}

func (dec *decoder) listed() *cluster.Cluster {
	var nodes []nodeLine
	var there *cluster.Cluster
	dec.decoded("nodes", &nodes, func() (err error) {
		there, err = makeCluster(nodes)
		return err
	})
	return there
}

func (dec *decoder) jobState(known map[job.ID]policy.Decision) JobState {
	var s JobState
	s.Restored = dec.restored(func(key string) bool {
		if key != "said" {
			return false
		}
		s.Decision = &policy.Decision{}
		for key := range dec.in.keys() {
			switch {
			case dec.granted(key, s.Decision):
			case key == "why":
				s.Decision.Why = dec.reason()
			default:
				dec.in.unknown(key)
			}
		}
		return true
	})
	if s.Decision != nil && s.Spec != nil {
		known[s.Spec.ID] = *s.Decision
	}
	return s
}

func (c *cursor) bytes() []byte {
	start := c.pos
	text := c.value()
	if c.err != nil {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(string(bytes.Trim(text, `"`)))
	if err != nil {
		c.pos = start
		c.fail("bytes in base 64")
	}
	return data
}
