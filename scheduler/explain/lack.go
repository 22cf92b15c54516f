package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

func (s *explainContext) typeOf(t cluster.GPUType) *TypeView {
	for i := range s.view.Types {
		if s.view.Types[i].Type == t {
			return &s.view.Types[i]
		}
	}
	return nil
}

func (s *explainContext) freeOf(c cluster.Configuration) (free int, known bool) {
	if t := s.typeOf(c.GPUType); t != nil {
		return t.Free, true
	}
	return 0, false
}

func (s *explainContext) least() int {
	switch {
	case s.spec == nil:
		return 0
	case s.spec.Adaptivity.Has(job.GPUCount):
		return s.spec.Min(s.why.Config.GPUType)
	}
	return s.spec.Requested(s.why.Config.GPUType)
}

func need(s *explainContext, n int, words string) string {
	switch asked := s.least(); {
	case asked == 0 || n <= asked || !s.spec.Reservation.IsZero():
		return map[bool]string{true: "it needs at least ", false: "it needs "}[s.spec == nil || s.spec.Adaptivity.Has(job.GPUCount)] + words
	case s.spec.Adaptivity.Has(job.GPUCount) && n == s.spec.Requested(s.why.Config.GPUType):
		return s.scheduler() + " starts it only with " + requested(n, words)
	}
	return s.scheduler() + " offers it no fewer than " + words
}

// requested returns "all 12 GPUs that it requested", or "12 t4 GPUs on 3 nodes, as many as it requested".
func requested(n int, words string) string {
	if n > 1 && strings.HasPrefix(words, count(n, "GPU")) {
		return "all " + count(n, "GPU") + " that it requested"
	}
	return words + ", as many as it requested"
}

type freed struct {
	gpus int
	ago  time.Duration
	next time.Duration // at most, until the next round; 0: not known
}

func (f *freed) later(d time.Duration) {
	f.ago += d
	f.next = max(0, f.next-d)
}

func (f *freed) text(t cluster.GPUType) string {
	round := "the next round"
	if f.next > 0 {
		round += ", within " + span(f.next) + ","
	}
	return fmt.Sprintf("%s became free %s ago; %s decides who gets %s", gpus(f.gpus, t), span(f.ago), round, map[bool]string{true: "it", false: "them"}[f.gpus == 1])
}

func short(s *explainContext) string {
	then, least := int(s.why.Value), int(s.why.Limit)
	if s.confined() && then < least {
		return need(s, least, amount(s.why.Config)) + ", and too few are free on the nodes that it may use"
	}
	if most, all := s.everyTypeLacks(least); all {
		return need(s, least, ofOneType(least)) + ", and " + mostFree(most)
	}
	text := need(s, least, amount(s.why.Config))
	free, known := s.freeOf(s.why.Config)
	switch {
	case !known:
		return text + ", and " + verb(then) + " free"
	case free < least:
		return text + ", and " + verb(free) + " free" + s.allPinned(free > 0)
	case then < least && s.freed.gpus > 0:
		return text + "; " + s.freed.text(s.why.Config.GPUType)
	case then < least && len(s.displaced) > 0:
		return text + unplaced(s)
	case then < least:
		return fmt.Sprintf("%s, and %s free in the last round", text, was(then))
	}
	return text + ", and the last round could not give it them" + unplaced(s)
}

// everyTypeLacks returns the most GPUs that are free of one type, if the job may use several types, is not held up by
// jobs that cannot be preempted, and every type has fewer free than n.
func (s *explainContext) everyTypeLacks(n int) (most int, all bool) {
	if s.spec == nil || len(s.spec.Equivalents) > 0 || !s.spec.Reservation.IsZero() || s.allPinned(false) != "" || s.typeOf(s.why.Config.GPUType) == nil {
		return 0, false
	}
	types := 0
	for _, t := range s.view.Types {
		if s.spec.Eligible(t.Type) && t.GPUs > 0 {
			types, most = types+1, max(most, t.Free)
		}
	}
	return most, types > 1 && most < n
}

func ofOneType(n int) string {
	if n == 1 {
		return "1 GPU"
	}
	return count(n, "GPU") + " of one type"
}

func mostFree(n int) string {
	if n == 0 {
		return "none is free"
	}
	return fmt.Sprintf("no type has more than %d free", n)
}

func verb(n int) string {
	switch n {
	case 0:
		return "none is"
	case 1:
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

func was(n int) string {
	switch n {
	case 0:
		return "none was"
	case 1:
		return "1 was"
	}
	return fmt.Sprintf("%d were", n)
}

// tieShare: the solver (opt/mmkp) raises offers by up to half this share to make them unequal, so an offer may
// be that much below the price that it sets.
const tieShare = 2e-6

func tied(why policy.Reason) bool {
	_, _, same := apart(why.Value, why.Limit)
	return same || why.Limit-why.Value <= tieShare*why.Limit
}

func outbid(s *explainContext) string {
	c := s.why.Config
	free, known := s.freeOf(c)
	switch {
	case known && free >= c.GPUs && free-s.freed.gpus < c.GPUs:
		return s.freed.text(c.GPUType)
	case len(s.rivals) == 1:
		return fmt.Sprintf("1 job that gains more from %s comes first (%s)", slots(c.GPUType), s.rivals[0])
	case len(s.rivals) > 1:
		return fmt.Sprintf("%d jobs that gain more from %s come first (%s)", len(s.rivals), slots(c.GPUType), named(s.rivals, len(s.rivals)))
	case known && free >= c.GPUs:
		return gpus(free, c.GPUType) + map[bool]string{true: " is", false: " are"}[free == 1] + " free, but starting it was not better for all jobs together"
	case s.why.Value <= 0:
		return "it would gain nothing from any GPUs now"
	case s.holders == nil || s.holders.jobs() == 0 || !known:
		return "other jobs gain more from " + slots(c.GPUType)
	case free == 0:
		return s.noneFree() + s.holders.text(s.typeOf(c.GPUType).GPUs, c.GPUType, false, tied(s.why))
	}
	return fmt.Sprintf("its best choice is %s, and %s free; %s", amount(c), verb(free), s.holders.text(s.typeOf(c.GPUType).GPUs-free, c.GPUType, true, tied(s.why)))
}

func (s *explainContext) noneFree() string {
	if s.spec == nil || !s.eligibleElsewhere() {
		return "no GPU is free, because "
	}
	return "no GPU of its best type is free, because "
}

func (s *explainContext) eligibleElsewhere() bool {
	return slices.ContainsFunc(s.view.Types, func(t TypeView) bool {
		return t.Type != s.why.Config.GPUType && t.GPUs > 0 && s.spec.Eligible(t.Type)
	})
}

func outbidDetails(s *explainContext) string {
	choice := fmt.Sprintf("per %s GPU%s", s.why.Config.GPUType, included(s))
	switch {
	case s.why.Value <= 0:
		return "it gains nothing from any GPUs at today's prices"
	case tied(s.why):
		return fmt.Sprintf("its gain %s with %s, its best choice, equals today's price", choice, amount(s.why.Config))
	}
	return fmt.Sprintf("others gain %s times as much %s, compared with its best choice of %s", ratio(s.why.Limit, s.why.Value), choice, amount(s.why.Config))
}

func included(s *explainContext) string {
	if t := s.typeOf(s.why.Config.GPUType); t != nil && (t.CPU > 0 || t.Memory > 0) {
		return ", with its CPUs and memory,"
	}
	return ""
}

func (s *explainContext) allPinned(others bool) string {
	h := s.holders
	if h == nil || len(h.free) > 0 || len(h.pinned) == 0 {
		return ""
	}
	return map[bool]string{false: "; all are held by ", true: "; the others are held by "}[others] + h.who(false)
}

func line(s *explainContext) string {
	n := int(s.why.Limit)
	needs := "it needs " + count(n, "GPU")
	if asked := s.least(); asked > 0 && n > asked && s.spec.Reservation.IsZero() {
		needs = need(s, n, count(n, "GPU"))
	}
	if s.why.Value < 1 {
		return "it is first in the queue, running jobs keep their GPUs, and " + needs
	}
	text := are(int(s.why.Value), "job") + " ahead of it in the queue"
	if len(s.ahead) > 0 {
		text += " (" + named(s.ahead[:min(len(s.ahead), int(s.why.Value))], int(s.why.Value)) + ")"
	}
	return text + ", and " + needs + s.enoughFree(n) + strings.Replace(unplaced(s), "which come", "which also come", 1)
}

func (s *explainContext) enoughFree(n int) string {
	if len(s.displaced) > 0 {
		return ""
	}
	for _, t := range s.view.Types {
		each := 1
		if s.spec != nil {
			each = s.spec.Equivalent(t.Type)
		}
		if (s.spec == nil || s.spec.Eligible(t.Type)) && t.Free >= n*each {
			first := map[bool]string{true: "job ahead of it comes", false: "jobs ahead of it come"}[s.why.Value == 1]
			return fmt.Sprintf("; %s %s free, but the %s first", gpus(t.Free, t.Type), map[bool]string{true: "is", false: "are"}[t.Free == 1], first)
		}
	}
	return ""
}

func unplaced(s *explainContext) string {
	n := len(s.displaced)
	if n == 0 {
		return ""
	}
	comes := map[bool]string{true: "comes", false: "come"}[n == 1]
	return "; the free GPUs are on too many nodes for " + named(s.displaced, n) + ", which " + comes + " first"
}

func scattered(s *explainContext) string {
	text := "the plan had " + amount(s.why.Config) + " for it"
	if free, known := s.freeOf(s.why.Config); known && free < s.why.Config.GPUs {
		return text + ", but the nodes went to other jobs"
	}
	if s.confined() {
		return text + ", but the nodes that it may use have no room for it"
	}
	return text + ", but the free GPUs are scattered, and too few whole nodes are free"
}

// confined reports whether the job may use only some nodes of its GPU types.
func (s *explainContext) confined() bool { return s.spec != nil && len(s.spec.Parts) > 0 }

func impossible(s *explainContext) string {
	n := have(s)
	if n >= s.why.Config.GPUs {
		return fmt.Sprintf("its policy finds no way to run it on this cluster, although the cluster has %d GPUs that it may use", n)
	}
	switch {
	case n == 0:
		return "it asks for " + amount(s.why.Config) + ", and the cluster has none"
	case s.why.Config.GPUType == "" && s.why.Config.GPUs > 1 && len(s.view.Types) > 1:
		return fmt.Sprintf("it asks for %s, and the cluster has at most %d", ofOneType(s.why.Config.GPUs), n)
	}
	return fmt.Sprintf("it asks for %s, and the cluster has %d in all", amount(s.why.Config), n)
}

func have(s *explainContext) int {
	n := 0
	for _, t := range s.view.Types {
		if s.why.Config.GPUType == "" && (s.spec == nil || s.spec.Eligible(t.Type)) || t.Type == s.why.Config.GPUType {
			n = max(n, t.GPUs)
		}
	}
	return n
}

func faster(s *explainContext) string {
	if x, _, same := apart(s.why.Value, 1); !same && s.why.Value > 1 {
		return "more CPUs or memory than its GPUs' share make it " + x + " times as fast"
	}
	return "it has more CPUs or memory than its GPUs' share, and is no faster with them"
}
