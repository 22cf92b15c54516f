package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

type kubeObject struct {
	Kind string `json:"kind"`
	Meta struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		UID       string            `json:"uid"`
		Created   time.Time         `json:"creationTimestamp"`
		Labels    map[string]string `json:"labels"`
		Owners    []kubeOwner       `json:"ownerReferences"`
	} `json:"metadata"`
	Spec   json.RawMessage `json:"spec"` // depends on the kind
	Status kubeStatus      `json:"status"`

	line     int
	priority float64 // of a workload
	queue    string  // of a workload: the LocalQueue
}

type kubeOwner struct {
	Kind string `json:"kind"`
	UID  string `json:"uid"`
}

type kubeStatus struct {
	Start      time.Time       `json:"startTime"`
	Completion time.Time       `json:"completionTime"`
	End        time.Time       `json:"endTime"` // of a RayJob
	RayCluster string          `json:"rayClusterName"`
	Conditions []kubeCondition `json:"conditions"`

	Allocatable kubeResources `json:"allocatable"` // of a node
}

type kubeCondition struct {
	Type   string    `json:"type"`
	Status string    `json:"status"`
	Since  time.Time `json:"lastTransitionTime"`
	Beat   time.Time `json:"lastHeartbeatTime"` // of a node
}

func (o *kubeObject) condition(kind string) *kubeCondition {
	for i := range o.Status.Conditions {
		if o.Status.Conditions[i].Type == kind {
			return &o.Status.Conditions[i]
		}
	}
	return nil
}

// since returns the time since which a condition is true; zero if it is not.
func (o *kubeObject) since(kind string) time.Time {
	if c := o.condition(kind); c != nil && c.Status == "True" {
		return c.Since
	}
	return time.Time{}
}

// ended returns when a job ended, and whether it failed; zero if it is live.
func (o *kubeObject) ended() (at time.Time, failed bool) {
	if at := o.since("Failed"); !at.IsZero() {
		return at, true
	}
	for _, at := range []time.Time{o.Status.Completion, o.Status.End, o.since("Complete"), o.since("Completed")} {
		if !at.IsZero() {
			return at, false
		}
	}
	return time.Time{}, false
}

func (o *kubeObject) times() []time.Time {
	all := []time.Time{o.Meta.Created, o.Status.Start, o.Status.Completion, o.Status.End}
	for _, c := range o.Status.Conditions {
		all = append(all, c.Since, c.Beat)
	}
	known := all[:0]
	for _, t := range all {
		if !t.IsZero() {
			known = append(known, t)
		}
	}
	return known
}

func (o *kubeObject) check() error {
	switch {
	case o.Meta.UID == "":
		return errors.New(`no uid`)
	case o.Meta.Created.IsZero():
		return errors.New("no creationTimestamp")
	}
	for _, t := range o.times() {
		if y := t.Year(); y < parse.FirstYear || y > parse.LastYear {
			return fmt.Errorf("a time in the year %d, want %d to %d", y, parse.FirstYear, parse.LastYear)
		}
	}
	return nil
}

func (o *kubeObject) problem(opt parse.Options, err error) *parse.Error {
	name := strings.ToLower(o.Kind) + " " + o.Meta.Name
	if o.Meta.Namespace != "" {
		name = strings.ToLower(o.Kind) + " " + o.Meta.Namespace + "/" + o.Meta.Name
	}
	return &parse.Error{File: opt.File, Line: o.line, Problem: fmt.Sprintf("%s: %v", cut(name), err), Err: err}
}

func cut(text string) string {
	const most = 80
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

type kubeResources map[string]kubeQuantity

type kubeQuantity float64

var kubeUnits = []struct {
	suffix string
	factor float64
}{
	{"Ki", 1 << 10},
	{"Mi", 1 << 20},
	{"Gi", 1 << 30},
	{"Ti", 1 << 40},
	{"Pi", 1 << 50},
	{"Ei", 1 << 60},
	{"n", 1e-9},
	{"u", 1e-6},
	{"m", 1e-3},
	{"k", 1e3},
	{"M", 1e6},
	{"G", 1e9},
	{"T", 1e12},
	{"P", 1e15},
	{"E", 1e18},
}

// UnmarshalJSON reads a quantity like "500m", "16Gi" or 8, from 0 to 2^60.
func (q *kubeQuantity) UnmarshalJSON(text []byte) error {
	s := strings.Trim(string(text), `"`)
	number, factor := s, 1.0
	for _, u := range kubeUnits {
		if head, ok := strings.CutSuffix(s, u.suffix); ok {
			number, factor = head, u.factor
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if x *= factor; err != nil || !(x >= 0 && x <= 1<<60) { // rejects NaN, too
		return fmt.Errorf("quantity %s, want one like 500m or 16Gi, at least 0", parse.Quote(s))
	}
	*q = kubeQuantity(x)
	return nil
}

// gpus returns the whole GPUs: nvidia.com/gpu, amd.com/gpu and others.
func (r kubeResources) gpus() int {
	n := 0.0
	for name, q := range r {
		if strings.HasSuffix(name, "/gpu") {
			n += float64(q)
		}
	}
	return int(min(math.Ceil(n), parse.MaxCount+1))
}

func (r kubeResources) parts() bool {
	for name, q := range r {
		if q > 0 && (strings.HasPrefix(name, "nvidia.com/mig-") || strings.HasSuffix(name, "/gpu.shared")) {
			return true
		}
	}
	return false
}
