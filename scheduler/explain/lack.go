package explain

import (
	"fmt"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// typeOf returns the view of a GPU type; nil if there is none.
func (s *explainContext) typeOf(t cluster.GPUType) *TypeView {
	for i := range s.view.Types {
		if s.view.Types[i].Type == t {
			return &s.view.Types[i]
		}
	}
	return nil
}

// freeOf returns how many GPUs of a configuration's type are free in the view.
func (s *explainContext) freeOf(c cluster.Configuration) (free int, known bool) {
	if t := s.typeOf(c.GPUType); t != nil {
		return t.Free, true
	}
	return 0, false
}

// least returns the fewest GPUs that a job asked for, of the type of its reason if that has one; 0 if its specification is not known.
func (s *explainContext) least() int {
	switch {
	case s.spec == nil:
		return 0
	case s.spec.Adaptivity.Has(job.GPUCount):
		return s.spec.Min(s.why.Config.GPUType)
	}
	return s.spec.Requested(s.why.Config.GPUType)
}

// need says that a job needs n GPUs, for which words stands. If the job asked for fewer, it says
// that its policy wants so many.
func need(s *explainContext, n int, words string) string {
	switch asked := s.least(); {
	case asked == 0 || n <= asked || !s.spec.Reservation.IsZero():
		return "it needs at least " + words
	case s.spec.Adaptivity.Has(job.GPUCount) && n == s.spec.Requested(s.why.Config.GPUType):
		return "its policy would give it no fewer than " + words + ", as many as it requested,"
	}
	return "its policy would give it no fewer than " + words + ", more than the least that it asked for,"
}

// short says how many GPUs a job needs, and how many are free. It takes the number that the view
// shows now, which may differ from the number that was free when the policy decided.
func short(s *explainContext) string {
	then, least := int(s.why.Value), int(s.why.Limit)
	text := need(s, least, amount(s.why.Config))
	free, known := s.freeOf(s.why.Config)
	switch {
	case !known:
		return text + " and " + verb(then) + " free"
	case free < least:
		return text + " and " + verb(free) + " free"
	case then < least:
		return fmt.Sprintf("%s and %s free in the last round", text, was(then))
	}
	return text + " and the last round could not give it them" + unplaced(s)
}

// was returns "none was", "1 was" or "3 were", for things that were just named.
func was(n int) string {
	switch n {
	case 0:
		return "none was"
	case 1:
		return "1 was"
	}
	return fmt.Sprintf("%d were", n)
}

// priced is the share of a price by which the offer of the job that sets it may be below it. The solver (opt/mmkp) raises each offer by up to
// half that share, so that no two are equal.
const priced = 2e-6

// dear compares what a job would gain per GPU with what others do. If both are equal, other jobs won
// the tie.
func dear(s *explainContext) string {
	_, _, same := apart(s.why.Value, s.why.Limit)
	same = same || s.why.Limit-s.why.Value <= priced*s.why.Limit
	choice := fmt.Sprintf("per %s GPU%s", s.why.Config.GPUType, included(s))
	switch {
	case s.why.Value <= 0:
		return "it gains nothing by any GPUs at today's prices"
	case same && s.taken():
		return fmt.Sprintf("others gain as much %s as it would with %s, its best choice, and got them", choice, amount(s.why.Config))
	case same:
		return fmt.Sprintf("it would gain as much %s with %s, its best choice, as they cost today, so a plan may leave it out", choice, amount(s.why.Config))
	}
	return fmt.Sprintf("others gain %s times as much %s as it would with %s, its best choice%s", ratio(s.why.Limit, s.why.Value), choice, amount(s.why.Config), rivals(s))
}

// taken reports whether too few GPUs are free for what a job would choose.
func (s *explainContext) taken() bool {
	free, known := s.freeOf(s.why.Config)
	return known && free < s.why.Config.GPUs
}

// rivals names waiting jobs that would gain more.
func rivals(s *explainContext) string {
	if len(s.rivals) == 0 {
		return ""
	}
	return "; of those that wait, " + named(s.rivals, len(s.rivals)) + " would gain more"
}

// line says how many jobs are ahead of a job in the queue, and what it needs.
func line(s *explainContext) string {
	n := int(s.why.Limit)
	needs := "it needs " + count(n, "GPU")
	if asked := s.least(); asked > 0 && n > asked && s.spec.Reservation.IsZero() {
		needs = need(s, n, count(n, "GPU"))
		needs = strings.TrimSuffix(needs, ",")
	}
	if s.why.Value < 1 {
		return "others keep what they have, and " + needs
	}
	text := are(int(s.why.Value), "job") + " ahead of it in the queue"
	if len(s.ahead) > 0 {
		text += " (" + named(s.ahead[:min(len(s.ahead), int(s.why.Value))], int(s.why.Value)) + ")"
	}
	return text + ", and " + needs + unplaced(s)
}

// unplaced names those that were granted GPUs which lie scattered: they wait, too, and nobody else has these GPUs.
func unplaced(s *explainContext) string {
	switch n := len(s.displaced); n {
	case 0:
		return ""
	case 1:
		return "; " + s.displaced[0] + " was granted GPUs, which lie scattered"
	default:
		return "; " + named(s.displaced, n) + " were granted GPUs, which lie scattered"
	}
}

// scattered says why there was no placement for the GPUs that a job was granted.
func scattered(s *explainContext) string {
	text := "it was granted " + amount(s.why.Config)
	if free, known := s.freeOf(s.why.Config); known && free < s.why.Config.GPUs {
		return text + ", but no nodes were left for it beside the others'"
	}
	return text + ", but the free GPUs lie scattered and no whole nodes were left for it"
}

// impossible says why a job cannot run on this cluster.
func impossible(s *explainContext) string {
	if n := have(s); n >= s.why.Config.GPUs {
		return fmt.Sprintf("its policy finds no way to run it on this cluster, though that has %d GPUs that it may use", n)
	}
	return "it asks for " + amount(s.why.Config) + ", and the cluster has " + most(s) + " in all"
}

// have returns the most GPUs that the cluster has of any one type that the job may use. If the
// reason has a type, only that counts.
func have(s *explainContext) int {
	n := 0
	for _, t := range s.view.Types {
		if s.why.Config.GPUType == "" && (s.spec == nil || s.spec.Eligible(t.Type)) || t.Type == s.why.Config.GPUType {
			n = max(n, t.GPUs)
		}
	}
	return n
}

// faster says what CPUs and memory above the share of its GPUs do for a job.
func faster(s *explainContext) string {
	if x, _, same := apart(s.why.Value, 1); !same && s.why.Value > 1 {
		return "more CPUs or memory than the share of its GPUs make it " + x + " times as fast"
	}
	return "it has more CPUs or memory than the share of its GPUs, and is no faster by them"
}
