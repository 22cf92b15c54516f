package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/manager"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// A play is what users do in a queue, act by act, while the scheduler is killed.
type play struct {
	name, showed string
	nodes        []rig.Nodes
	policy       v1alpha1.PolicyRef
	setup        Setup
	from         string // the first act in which it is killed: those before are of another play
	acts         []act
}

// An act is what users do, and what is to come of it.
type act struct {
	name   string
	do     func(*turn)
	silent bool             // nothing new is to be written
	runs   map[string]int   // pods that run in the end, by job; of others none
	also   func(*turn) bool // what else is to be so; nil: nothing
}

var two = []rig.Nodes{{Type: "a100", Count: 2}}

// starts is the play that all others begin with.
var starts = play{
	name: "jobs start", showed: "24 kills, settled in 2.2 s at most", nodes: two, policy: v1alpha1.PolicyRef{Name: "fifo"},
	acts: []act{{
		name: "two come", runs: map[string]int{"a": 1, "b": 1},
		do: func(s *turn) { s.open(); s.submit("a", 1, 8, nil); s.submit("b", 1, 8, nil) },
	}},
}

var plays = []play{
	starts,
	{
		name: "a job is preempted and goes on", showed: "19 kills where writes were applied, settled in 2.4 s at most", nodes: two, policy: v1alpha1.PolicyRef{Name: "srtf"}, from: "the shorter one comes",
		acts: []act{
			{
				name: "a long one comes", runs: map[string]int{"long": 2},
				do: func(s *turn) { s.open(); s.submit("long", 2, 8, samples("1000000", nil)) },
			},
			{
				name: "the shorter one comes", runs: map[string]int{"short": 2},
				do: func(s *turn) { s.submit("short", 2, 8, samples("1000", nil)) },
			},
			{
				name: "it ends", runs: map[string]int{"long": 2},
				do: func(s *turn) { finish(s.T, s.Cluster, s.k, "short") },
			},
		},
	},
	{
		name: "an elastic job shrinks and grows in place", showed: "12 kills where writes were applied, settled in 2.9 s at most", nodes: two, policy: v1alpha1.PolicyRef{Name: "afs"}, from: "another one comes",
		acts: []act{
			elasticComes,
			{
				name: "another one comes", runs: map[string]int{"elastic": 1, "rigid": 1},
				do: func(s *turn) { s.submit("rigid", 1, 8, samples("1000", nil)) },
			},
			{
				name: "that ends", runs: map[string]int{"elastic": 2},
				do: func(s *turn) { finish(s.T, s.Cluster, s.k, "rigid") },
			},
		},
	},
	{
		name: "an elastic job moves to another GPU type, where it is smaller", showed: "12 kills where writes were applied, settled in 2.8 s at most", from: "the other type is asked for",
		nodes: []rig.Nodes{{Type: "a100", Count: 2}, {Type: "h100", Count: 1}}, policy: v1alpha1.PolicyRef{Name: "afs"},
		acts: []act{
			elasticComes,
			{
				name: "the other type is asked for", runs: map[string]int{"elastic": 1},
				do: func(s *turn) {
					s.edit(&batchv1.Job{}, "default", "elastic", func(o client.Object) { o.GetAnnotations()[v1alpha1.GPUTypes] = "h100" })
				},
			},
		},
	},
	{
		name: "a job of several pods on several nodes starts", showed: "29 kills, settled in 2.4 s at most", nodes: two, policy: v1alpha1.PolicyRef{Name: "fifo"},
		acts: []act{{
			name: "it comes", runs: map[string]int{"gang": 4},
			do: func(s *turn) { s.open(); s.submit("gang", 4, 4, nil) },
		}},
	},
	{
		name: "the mode is changed while jobs run", showed: "8 kills where writes were applied, settled in 2.6 s at most", nodes: two, policy: v1alpha1.PolicyRef{Name: "fifo"}, from: "it is served again",
		acts: []act{
			{
				name: "two come", runs: map[string]int{"a": 1, "b": 1},
				do: func(s *turn) { s.open(); s.submit("a", 1, 4, nil); s.submit("b", 1, 4, nil) },
			},
			{
				name: "it is only observed", silent: true, runs: map[string]int{"a": 1, "b": 1},
				do: func(s *turn) { s.mode(v1alpha1.Observe); s.submit("c", 1, 4, nil) },
			},
			{
				name: "it is served again", runs: map[string]int{"a": 1, "b": 1, "c": 1},
				do: func(s *turn) { s.mode(v1alpha1.Resize) },
			},
		},
	},
	{
		name: "it leads for the first time", showed: "9 kills, settled in 5.5 s at most", nodes: two, policy: v1alpha1.PolicyRef{Name: "fifo"},
		setup: Setup{Elects: true, Lease: "3s 2s 500ms", Names: []string{AgentName}},
		acts:  []act{{name: "a queue comes", do: (*turn).open, also: (*turn).trusted}},
	},
}

// elasticComes is an act: a job comes of workers of 8 GPUs that runs on 16 of one type.
var elasticComes = act{
	name: "it comes", runs: map[string]int{"elastic": 2},
	do: func(s *turn) {
		s.open()
		s.submit("elastic", 1, 8, samples("1000000", map[string]string{
			v1alpha1.MinGPUs: "8", v1alpha1.MaxGPUs: "16", v1alpha1.ResizeBy: string(v1alpha1.InPlace), v1alpha1.GPUTypes: "a100",
		}))
	},
}

// samples returns annotations with how much there is to train.
func samples(n string, more map[string]string) map[string]string {
	all := map[string]string{v1alpha1.RunSeconds: n}
	maps.Copy(all, more)
	return all
}

// news returns which steps of a play are new: not those of acts that are of another play, and
// of writes of a status that come again in an act the first.
func (p *play) news() func(string, *fault.Call) bool {
	known, begun := map[string]bool{}, p.from == ""
	return func(act string, c *fault.Call) bool {
		begun = begun || act == p.from
		key := act + " " + c.String()
		was := known[key]
		known[key] = true
		return begun && (c.Subresource != "status" || !was)
	}
}

// hear returns kill, or what is always true in its place, that complains of each step in an act
// that is to be silent. A status may still be written there of what came before.
func (p *play) hear(kill func(string, *fault.Call) bool, complain func(string, *fault.Call)) func(string, *fault.Call) bool {
	return func(name string, c *fault.Call) bool {
		if c.Subresource != "status" && slices.ContainsFunc(p.acts, func(a act) bool { return a.name == name && a.silent }) {
			complain(name, c)
		}
		return kill == nil || kill(name, c)
	}
}

func (s *turn) open() {
	q := Queue(s.queue(), v1alpha1.Resize, "")
	q.Spec.Policy = s.play.policy
	s.create(q)
}

// submit makes a job whose pods take a moment to stop.
func (s *turn) submit(name string, workers, gpus int, annotations map[string]string) {
	j := Job(name, s.queue(), workers, gpus, annotations)
	j.Spec.Template.Annotations = map[string]string{rig.StopAfter: "300ms"}
	s.create(j)
}

// mode sets what may be done to the jobs of the queue.
func (s *turn) mode(m v1alpha1.Mode) {
	s.edit(&v1alpha1.Queue{}, "", s.queue(), func(o client.Object) { o.(*v1alpha1.Queue).Spec.Mode = m })
}

// edit changes an object as a user does.
func (s *turn) edit(o client.Object, namespace, name string, change func(client.Object)) {
	if err := s.k.Get(s.Context(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		s.Fatal(err)
	}
	old := o.DeepCopyObject().(client.Object)
	change(o)
	if err := s.k.Patch(s.Context(), o, client.MergeFrom(old)); err != nil {
		s.Fatal(err)
	}
}

// trusted reports whether an agent that trusts what is published reaches the agent API.
func (s *turn) trusted() bool {
	var m corev1.ConfigMap
	roots := x509.NewCertPool()
	if s.k.Get(s.Context(), client.ObjectKey{Namespace: "default", Name: manager.TrustMap}, &m) != nil ||
		!roots.AppendCertsFromPEM([]byte(m.Data[agentapi.CertificatesKey])) {
		return false
	}
	c, err := tls.Dial("tcp", s.setup.Agents, &tls.Config{RootCAs: roots, ServerName: AgentName, MinVersion: tls.VersionTLS13})
	if err != nil {
		return false
	}
	return c.Close() == nil
}
