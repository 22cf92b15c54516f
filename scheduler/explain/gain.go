package explain

import (
	"fmt"
	"math"
	"strconv"

	"github.com/oxgang/oxgang/model/cluster"
)

// apart returns two numbers with three digits, or with as many more as they need to differ. It
// returns true if they are the same with nine digits: solvers are no more exact than that.
func apart(a, b float64) (x, y string, same bool) {
	for digits := 3; digits <= 9; digits++ {
		x, y = strconv.FormatFloat(a, 'g', digits, 64), strconv.FormatFloat(b, 'g', digits, 64)
		if x != y && math.Abs(a-b) > 1e-9 {
			return x, y, false
		}
	}
	return number(a), number(a), true
}

// grew says why a job has more GPUs.
func grew(s *explainContext) string {
	if before := s.why.Config; before.GPUs > 0 && s.holds != before && s.holds.GPUs == before.GPUs && s.holds.GPUType == before.GPUType {
		return moved(s) // journals of older versions have the kind Grown for some moves
	}
	if s.why.Value == 0 && s.why.Limit == 0 {
		return "its policy has more GPUs for it"
	}
	if text, ok := gained(s, "more GPUs make"); ok {
		return text
	}
	return "the plan for all jobs together gives it more GPUs" + outcome(s)
}

// moved says why a job is on other GPUs: because it gains goodput, or else because these GPUs cost
// less, or else because of the plan for all jobs together.
func moved(s *explainContext) string {
	verb, fewer := "another GPU type makes", s.holds.GPUType == s.why.Config.GPUType && s.holds.GPUs < s.why.Config.GPUs
	switch {
	case fewer:
		verb = "fewer GPUs make"
	case s.holds.GPUType == s.why.Config.GPUType:
		verb = "other nodes make"
	}
	if text, ok := gained(s, verb); ok {
		return text
	}
	if fewer && s.why.Limit > 0 {
		return "fewer GPUs are as good for it"
	}
	was, before := s.cost(s.why.Config)
	is, after := s.cost(s.holds)
	if _, _, same := apart(was, is); before && after && !same && was > is && is > 0 {
		return fmt.Sprintf("it leaves GPUs that are worth more to others: by today's prices %s times as much as what it gets%s", ratio(was, is), outcome(s))
	}
	return "the plan for all jobs together moves it" + outcome(s)
}

// gained says how many times as fast a change makes the job. It returns false if the change
// does not make it faster, or if that is not known.
func gained(s *explainContext, verb string) (text string, ok bool) {
	_, _, same := apart(s.why.Limit, s.why.Value)
	if same || s.why.Value < s.why.Limit || s.why.Limit <= 0 {
		return "", false
	}
	return verb + " it " + ratio(s.why.Value, s.why.Limit) + " times as fast", true
}

// outcome says what a change that is no gain does to the job's speed, as far as it is known.
func outcome(s *explainContext) string {
	switch _, _, same := apart(s.why.Limit, s.why.Value); {
	case s.why.Limit <= 0:
		return ""
	case same:
		return ", and it is as fast as before"
	default:
		return ", and it is " + ratio(s.why.Value, s.why.Limit) + " times as fast as before"
	}
}

// cost returns what the GPUs of a configuration cost at today's prices. It is not known if their
// type has no price, or if CPUs or memory have a price, too.
func (s *explainContext) cost(c cluster.Configuration) (cost float64, known bool) {
	t := s.typeOf(c.GPUType)
	if t == nil || t.Price == nil || t.CPU > 0 || t.Memory > 0 {
		return 0, false
	}
	return *t.Price * float64(c.GPUs), true
}

// ratio returns how many times b is in a, in as many digits as show that they differ.
func ratio(a, b float64) string {
	_, times, _ := apart(1, a/b)
	return times
}

// shrank says why a job has fewer GPUs.
func shrank(s *explainContext) string {
	_, _, same := apart(s.why.Value, s.why.Limit)
	switch {
	case s.why.Limit <= 0: // the price is not the only reason
		return "its GPUs do more for others now"
	case same:
		return "others gain as much with each of its GPUs as it did"
	case s.why.Value <= 0:
		return "others gain by its GPUs, and it gained nothing"
	}
	return "others gain " + ratio(s.why.Limit, s.why.Value) + " times as much with each of its GPUs as it did"
}

// kept says why a job keeps its GPUs although others would be better.
func kept(s *explainContext) string {
	x, y, same := apart(s.why.Value, s.why.Limit)
	better := amount(s.why.Config) + " would be " + x + " times as good, and a restart pays only from "
	if same {
		return better + "more"
	}
	return better + y + " times"
}

// planned says that a job keeps its GPUs, and which ones would be worth their price but are not
// free.
func planned(s *explainContext) string {
	if s.why.Limit <= 0 {
		return "it keeps what it has, as planned" + speed(s)
	}
	x, y, same := apart(s.why.Value, s.why.Limit)
	if same {
		return "it keeps what it has, as planned" + speed(s)
	}
	free, known := s.freeOf(s.why.Config)
	if s.holds.GPUType == s.why.Config.GPUType {
		free += s.holds.GPUs
	}
	lack := "are not free"
	if known && free >= s.why.Config.GPUs {
		lack = "were not free in the last round"
	}
	return fmt.Sprintf("it keeps what it has, as planned%s; %s would be worth their price (%s times), but %s", times(x), amount(s.why.Config), y, lack)
}
