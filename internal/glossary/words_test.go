package glossary

// metaphors are words that must not be the name, or part of the name, of a package, type, function,
// method or field, because every reader would have to translate them. The glossary has the field's
// words.
var metaphors = []string{
	"lead", "kind", "inbox", "keeper", "desk", "sight", "found", "reading", "takein", "stand", "hire", "fleet", "larder",
	"outlook", "lookout", "course", "fate", "yielder", "standing", "teller", "scene", "twin", "central", "embedding", "union",
	"timetable", "shares", "window", "bar", "hair", "entrant", "enrol", "hush", "ring", "tell", "ward", "pledge", "promise", "doubt",
}

// An exemption lets the packages of a folder ("x/..." includes those below) use a word, because the
// field uses it in the same sense.
type exemption struct {
	word, where string
	why         string
}

// exemptions are the words that mean here what they mean in the field, or to users.
var exemptions = []exemption{
	{"kind", "live/kube/api/v1alpha1", "Kubernetes' kind of an object"},
	{"kind", "internal/apidoc", "Kubernetes' kind of an object"},
	{"kind", "live/kube/...", "Kubernetes' kind of an object"},
	{"kind", "trace", "Kubernetes' kind of an object"},
	{"kind", "cmd/oxgang/command", "the key generate.kind, which users write"},
	{"kind", "config", "the key generate.kind, which users write"},
	{"kind", "workload", "the key generate.kind, which users write, and an enum of how nodes are connected"},
	{"kind", "budget", "the key kind of an offer, which users write, and an enum of marks on a page"},
	{"kind", "workload/generate", "what is generated, as its flag says"},
	{"kind", "reference/casestudy/...", "an enum: of engines, and of how demands are made"},
	{"kind", "opt/convex", "the kind of GPUs of a point, by index in Problem.Prices"},
	{"kind", "opt/copter", "an enum of rows"},
	{"kind", "opt/lp", "an enum of rows, in the format MPS"},
	{"kind", "policy", "an enum of reasons to wait"},
	{"kind", "explain/counterfactual", "an enum of changes"},
	{"kind", "live/kube/rig/node", "an enum of file systems"},
	{"window", "reference/lstm", "the intervals that a prediction of a time series is made from"},
	{"window", "policy/shockwave", "Shockwave's planning window"},
	{"window", "policy/boa", "the time over which a mean cost is bounded; the option boa.window, which users write"},
	{"window", "sim", "Kubernetes' and Slurm's maintenance window"},
	{"window", "config", "the keys of maintenance windows and of the window that is measured, which users write"},
	{"window", "experiments", "the key of the window that is measured, which users write"},
	{"bar", "report", "a bar of a chart"},
	{"bar", "trace", "a bar of a chart"},
}

// A renaming is a name that is still to be changed, in the packages of a folder as in exemptions,
// or anywhere.
type renaming struct{ name, where string }

// anywhere is where a renaming is pending if packages move, too.
const anywhere = "..."

// pending are the names that are still to be changed. A line that nothing needs is only logged
// while there is another, as several people change names at once; the last to go removes all.
var pending []renaming
