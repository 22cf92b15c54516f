package slurm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

var jsonHead = regexp.MustCompile(`^\s*\{\s*"(meta|jobs|errors|warnings)"\s*:`)

func sniffJSON(head []byte) bool {
	return jsonHead.Match(bytes.TrimPrefix(head, parse.ByteOrderMark))
}

type jsonReader struct {
	log *log
	in  *json.Decoder
	at  lineCounter
}

func (l *log) readJSON(r io.Reader) (lines int, ok bool) {
	j := &jsonReader{log: l}
	j.at.r = r
	j.in = json.NewDecoder(&j.at)
	err := j.object()
	if err != nil {
		l.feed.Fail(j.problem(err))
		return 0, false
	}
	return j.at.line(j.in.InputOffset()), !l.stopped
}

func (j *jsonReader) object() error {
	if err := j.expect('{'); err != nil {
		return err
	}
	for j.in.More() && !j.log.stopped {
		name, err := j.in.Token()
		if err != nil {
			return err
		}
		if name != "jobs" {
			if err := j.in.Decode(new(json.RawMessage)); err != nil {
				return err
			}
		} else if err := j.jobs(); err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonReader) expect(want json.Delim) error {
	got, err := j.in.Token()
	if err == nil && got != want {
		err = fmt.Errorf("%v, want %v: what sacct --json prints", got, want)
	}
	return err
}

func (j *jsonReader) jobs() error {
	if err := j.expect('['); err != nil {
		return err
	}
	for j.in.More() {
		var seen jsonJob
		err := j.in.Decode(&seen)
		j.log.o.Summary.Rows++
		line := j.at.line(j.in.InputOffset())
		var wrong *json.UnmarshalTypeError
		switch {
		case errors.As(err, &wrong):
			err = j.problem(fmt.Errorf("%s is a JSON %s, want another type", wrong.Field, wrong.Value))
		case err != nil:
			return err
		default:
			err = j.log.jsonRow(&seen, line)
		}
		if err != nil && !j.log.feed.Reject(err) {
			j.log.stopped = true
			return nil
		}
	}
	return j.expect(']')
}

func (j *jsonReader) problem(err error) error {
	if place, ok := errors.AsType[*parse.Error](err); ok {
		return place
	}
	text := err.Error()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		text = "truncated: the file ends inside of the JSON"
	}
	return &parse.Error{File: j.log.o.File, Line: j.at.line(j.in.InputOffset()), Problem: text, Err: err}
}

func (l *log) jsonRow(seen *jsonJob, line int) error {
	r, err := seen.record()
	if err != nil {
		return &parse.Error{File: l.o.File, Line: line, Problem: err.Error()}
	}
	return l.add(&r, line)
}

// A jsonJob has the used fields of a job. Since v0.0.38, numbers may be objects and the state a list.
type jsonJob struct {
	ID    jsonNumber `json:"job_id"`
	Array struct {
		Job  jsonNumber `json:"job_id"`
		Task jsonNumber `json:"task_id"`
	} `json:"array"`
	Het struct {
		Job    jsonNumber `json:"job_id"`
		Offset jsonNumber `json:"job_offset"`
	} `json:"het"`
	Cluster     string `json:"cluster"`
	Name        string `json:"name"`
	User        string `json:"user"`
	Partition   string `json:"partition"`
	QOS         string `json:"qos"`
	Association struct {
		User string `json:"user"`
	} `json:"association"`
	Time struct {
		Elapsed    jsonNumber `json:"elapsed"`
		Eligible   jsonNumber `json:"eligible"`
		Start      jsonNumber `json:"start"`
		End        jsonNumber `json:"end"`
		Submission jsonNumber `json:"submission"`
		Limit      jsonNumber `json:"limit"` // minutes
	} `json:"time"`
	Submitted json.RawMessage `json:"submit_time"` // by squeue and scontrol, not sacct
	State     struct {
		Current jsonState `json:"current"`
		Reason  string    `json:"reason"`
	} `json:"state"`
	Priority    jsonNumber `json:"priority"`
	Reservation struct {
		Number jsonNumber `json:"id"`
	} `json:"reservation"`
	TRES struct {
		Allocated jsonTRES `json:"allocated"`
		Requested jsonTRES `json:"requested"`
	} `json:"tres"`
}

func (j *jsonJob) record() (record, error) {
	r := record{
		cluster: j.Cluster, name: j.Name, user: j.User, partition: j.Partition, qos: j.QOS, state: string(j.State.Current),
		submit: j.Time.Submission.value, eligible: j.Time.Eligible.value, start: j.Time.Start.value, end: j.Time.End.value,
		elapsed: j.Time.Elapsed.value, limit: j.Time.Limit.minutes(), priority: j.Priority.value,
		reason: j.State.Reason, reserved: j.Reservation.Number.value > 0,
	}
	if r.user == "" {
		r.user = j.Association.User
	}
	var err error
	if r.id, err = j.key(); err != nil {
		return r, err
	}
	if r.submit == 0 && j.Submitted != nil {
		return r, errors.New("a job as squeue and scontrol print it, which have only jobs that wait or run" + refused)
	}
	for _, t := range []struct {
		name string
		at   int64
	}{{"submission", r.submit}, {"eligible", r.eligible}, {"start", r.start}, {"end", r.end}} {
		if t.at != 0 && (t.at < firstSecond || t.at > lastSecond) || t.at == 0 && t.name == "submission" {
			return r, fmt.Errorf("time.%s %d, want seconds since 1970, from %d to %d", t.name, t.at, firstSecond, lastSecond)
		}
	}
	if r.elapsed < 0 || r.elapsed > parse.MaxSeconds {
		return r, fmt.Errorf("time.elapsed %d, want %s", r.elapsed, parse.WantSeconds)
	}
	if n := j.Time.Limit.value; n < 0 || n > parse.MaxCount {
		return r, fmt.Errorf("time.limit %d, want minutes from 0 to %d", n, parse.MaxCount)
	}
	if r.priority < 0 || r.priority > lastSecond {
		return r, fmt.Errorf("priority %d, want a whole number from 0 to %d", r.priority, uint32(lastSecond))
	}
	if r.asked, err = j.TRES.Requested.list("requested"); err != nil {
		return r, err
	}
	r.suspend()
	r.had, err = j.TRES.Allocated.list("allocated")
	return r, err
}

func (j *jsonJob) key() (key, error) {
	number, part := j.ID, int64(0)
	switch {
	case j.Array.Job.value != 0 && j.Array.Task.set:
		number, part = j.Array.Job, j.Array.Task.value+1
	case j.Het.Job.value != 0:
		number, part = j.Het.Job, heterogeneous+j.Het.Offset.value
	}
	if number.value < 1 || number.value > lastSecond || j.Array.Task.value < 0 || j.Array.Task.value >= 1<<30 ||
		j.Het.Offset.value < 0 || j.Het.Offset.value >= 1<<30 {
		return key{}, fmt.Errorf("job_id %d, want a number of a job", number.value)
	}
	return key{number: uint64(number.value), part: uint32(part)}, nil
}

type jsonNumber struct {
	value         int64
	set, infinite bool
}

func (n jsonNumber) minutes() int64 {
	if n.infinite {
		return endless
	}
	return minutes(n.value)
}

func (n *jsonNumber) UnmarshalJSON(text []byte) error {
	*n = jsonNumber{}
	if len(text) > 0 && text[0] == '{' {
		var o struct {
			Set      bool  `json:"set"`
			Infinite bool  `json:"infinite"`
			Number   int64 `json:"number"`
		}
		if err := json.Unmarshal(text, &o); err != nil {
			return err
		}
		n.infinite = o.Infinite
		if o.Set {
			n.value, n.set = o.Number, true
		}
		return nil
	}
	if string(text) == "null" { // UNLIMITED in v0.0.38
		n.infinite = true
		return nil
	}
	n.set = true
	return json.Unmarshal(text, &n.value)
}

type jsonState string

func (s *jsonState) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		var all []string
		if err := json.Unmarshal(text, &all); err != nil {
			return err
		}
		if len(all) > 0 {
			*s = jsonState(all[0])
		}
		return nil
	}
	return json.Unmarshal(text, (*string)(s))
}

type jsonTRES []struct {
	Type  string     `json:"type"`
	Name  string     `json:"name"`
	Count jsonNumber `json:"count"`
}

func (t jsonTRES) list(what string) (l resourceList, err error) {
	for _, item := range t {
		n := item.Count.value
		gpu := item.Type == "gres" && countsGPUs(item.Name)
		counted := gpu || item.Type == "cpu" || item.Type == "node"
		if counted && (n < 0 || n > parse.MaxCount) {
			return l, fmt.Errorf("tres.%s: %d of %s, want %s", what, n, item.Type, wantCount)
		}
		switch {
		case gpu:
			l.addGRES(item.Name, int(n))
		case item.Type == "cpu":
			l.cpus = int(n)
		case item.Type == "node":
			l.nodes = int(n)
		case item.Type == "mem": // megabytes
			if n < 0 || n > 1<<32 {
				return l, fmt.Errorf("tres.%s: %d of mem, want megabytes of at most 2^32", what, n)
			}
			l.memory = n << 20
		}
	}
	l.settle()
	if l.gpus > parse.MaxCount {
		return l, fmt.Errorf("tres.%s: %d GPUs, want at most %d", what, l.gpus, parse.MaxCount)
	}
	return l, nil
}

type lineCounter struct {
	r      io.Reader
	offset int64
	ends   []int64 // offsets of line ends that line has not passed
	passed int
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.offset+int64(i))
		}
	}
	c.offset += int64(n)
	return n, err
}

func (c *lineCounter) line(offset int64) int {
	n := 0
	for n < len(c.ends) && c.ends[n] < offset {
		n++
	}
	c.ends = append(c.ends[:0], c.ends[n:]...)
	c.passed += n
	return c.passed + 1
}
