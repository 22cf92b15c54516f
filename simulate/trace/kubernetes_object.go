package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

type kubeObject struct {
	API  string `json:"apiVersion"`
	Kind string `json:"kind"`
	Meta struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		UID       string            `json:"uid"`
		Created   time.Time         `json:"creationTimestamp"`
		Labels    map[string]string `json:"labels"`
		Owners    []kubeOwner       `json:"ownerReferences"`
	} `json:"metadata"`
	Spec      json.RawMessage `json:"spec"`   // depends on the kind
	RawStatus json.RawMessage `json:"status"` // depends on the kind
	Status    kubeStatus      `json:"-"`

	line     int
	workload *kubeWorkload // nil: another kind
}

type kubeOwner struct {
	API  string `json:"apiVersion"`
	Kind string `json:"kind"`
	Name string `json:"name"`
	UID  string `json:"uid"`
}

type kubeStatus struct {
	Start      time.Time       `json:"startTime"`
	Completion time.Time       `json:"completionTime"`
	End        time.Time       `json:"endTime"` // of a RayJob
	RayCluster string          `json:"rayClusterName"`
	RayState   string          `json:"jobStatus"`       // of a RayJob
	Active     int             `json:"active"`          // pods of a Job
	Phase      string          `json:"phase"`           // of a Pod
	State      kubeState       `json:"state"`           // of a Volcano Job
	Ran        string          `json:"runningDuration"` // of a Volcano Job
	Conditions []kubeCondition `json:"conditions"`

	Allocatable kubeResources `json:"allocatable"` // of a node
}

type kubeCondition struct {
	Type   string    `json:"type"`
	Status string    `json:"status"` // of a Volcano Job: the phase
	Reason string    `json:"reason"`
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

func (o *kubeObject) since(kind string) time.Time {
	if c := o.condition(kind); c != nil && c.Status == "True" {
		return c.Since
	}
	return time.Time{}
}

type kubeState struct {
	Phase string
	Since time.Time
}

// UnmarshalJSON ignores a state that is neither a string nor an object of the expected form.
func (s *kubeState) UnmarshalJSON(text []byte) error {
	var state struct {
		Phase string    `json:"phase"`
		Since time.Time `json:"lastTransitionTime"`
	}
	if json.Unmarshal(text, &state) == nil {
		s.Phase, s.Since = state.Phase, state.Since
	}
	return nil
}

var volcanoEnds = map[string]bool{"Completed": false, "Failed": true, "Terminated": true, "Aborted": true}

func (o *kubeObject) ended() (at time.Time, failed bool) {
	if at := o.since("Failed"); !at.IsZero() {
		return at, true
	}
	if failed, ok := volcanoEnds[o.Status.State.Phase]; ok {
		return o.Status.State.Since, failed
	}
	ends := []time.Time{o.Status.Completion, o.Status.End, o.since("Complete"), o.since("Completed"), o.since("Succeeded"), o.since("Finished")}
	for _, at := range ends {
		if !at.IsZero() {
			c := o.condition("Finished")
			return at, o.Status.RayState == "FAILED" || o.Status.RayState == "STOPPED" || c != nil && c.Reason == "Failed"
		}
	}
	return time.Time{}, false
}

func (o *kubeObject) ran() (at time.Time) {
	for _, c := range o.Status.Conditions {
		if c.Type == "" && c.Status == "Running" {
			at = latest(at, c.Since)
		}
	}
	if d, err := time.ParseDuration(o.Status.Ran); at.IsZero() && err == nil && !o.Status.State.Since.IsZero() {
		at = o.Status.State.Since.Add(-d)
	}
	return at
}

func (o *kubeObject) readStatus() error {
	text := o.RawStatus
	if o.Kind != "Workload" {
		o.RawStatus = nil
	}
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, &o.Status)
}

func (o *kubeObject) times() []time.Time {
	all := []time.Time{o.Meta.Created, o.Status.Start, o.Status.Completion, o.Status.End, o.Status.State.Since}
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

func (r kubeResources) gpus() int {
	n := 0.0
	for name, q := range r {
		if strings.HasSuffix(name, "/gpu") {
			n += float64(q)
		}
	}
	return int(min(math.Ceil(n), parse.MaxCount+1))
}

// partNames are parts of the names of resources that are parts of GPUs: MIG slices, time slices, memory or cores.
var partNames = []string{"/mig-", "/gpu.shared", "/gpumem", "/gpucores", "/gpu-mem", "/gpu-memory", "/gpu-core", "/vgpu", "/vcuda-"}

func (r kubeResources) parts() string {
	return r.named(func(name string) bool {
		return slices.ContainsFunc(partNames, func(part string) bool { return strings.Contains(name, part) })
	})
}

// device returns the name of a resource of a vendor that is neither a GPU nor a part of one; "": none.
func (r kubeResources) device() string {
	return r.named(func(name string) bool {
		vendor, _, ok := strings.Cut(name, "/")
		return ok && !strings.HasSuffix(name, "/gpu") && !strings.HasSuffix(vendor, "kubernetes.io")
	})
}

func (r kubeResources) named(class func(name string) bool) (first string) {
	for name, q := range r {
		if q > 0 && class(name) && (first == "" || name < first) {
			first = name
		}
	}
	return first
}
