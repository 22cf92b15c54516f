package jobadapter

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// Limits of annotations, far below overflow.
const (
	maxBatch   = 1 << 30
	maxSamples = 1e18
	maxRestart = 24 * 3600 // seconds
	maxRun     = 1e9       // seconds
	maxTypes   = 64
	maxText    = 64 // bytes of a number
)

type annotations struct {
	of       map[string]string
	problems []string
	spoilt   []string
}

func (a *annotations) bad(format string, args ...any) {
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
}

func (a *annotations) wrong(key, want string, args ...any) {
	a.spoilt = append(a.spoilt, key)
	a.bad("annotation %s is %.70q, want %s", key, a.of[key], fmt.Sprintf(want, args...))
}

func (a *annotations) gpus(key string, each int) int {
	n, ok := a.number(key, 1, inventory.MostGPUs)
	switch {
	case !ok:
		return 0
	case int(n)%each != 0:
		a.wrong(key, "a multiple of the %d GPUs of a worker", each)
		return 0
	}
	return int(n)
}

func (a *annotations) whole(key string, most float64) int {
	n, _ := a.number(key, 1, most)
	return int(n)
}

func (a *annotations) number(key string, least, most float64) (float64, bool) {
	text, ok := a.of[key]
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > maxText || !(n >= least && n <= most) || n != math.Trunc(n) {
		a.wrong(key, "a whole number, %.0f to %.0f", least, most)
		return 0, false
	}
	return n, true
}

func (a *annotations) yes(key string) bool {
	switch a.of[key] {
	case "true":
		return true
	case "false", "":
		return false
	}
	a.wrong(key, "true or false")
	return false
}

func (a *annotations) class() job.Class {
	text := a.of[v1alpha1.Class]
	if len(validation.IsValidLabelValue(text)) > 0 {
		a.wrong(v1alpha1.Class, "a name: at most 63 letters, digits, dots, dashes and underscores")
		return ""
	}
	return job.Class(text)
}

func (a *annotations) types() []cluster.GPUType {
	text, ok := a.of[v1alpha1.GPUTypes]
	if !ok {
		return nil
	}
	var all []cluster.GPUType
	for t := range strings.SplitSeq(text, ",") {
		if t = strings.TrimSpace(t); !inventory.IsName(t) || len(all) == maxTypes {
			a.wrong(v1alpha1.GPUTypes, "at most %d names of GPU types, separated by commas", maxTypes)
			return nil
		}
		if !slices.Contains(all, cluster.GPUType(t)) {
			all = append(all, cluster.GPUType(t))
		}
	}
	return all
}

func (a *annotations) resizing() v1alpha1.Resizing {
	text, ok := a.of[v1alpha1.ResizeBy]
	if !ok {
		return ""
	}
	r := v1alpha1.Resizing(text)
	if r != v1alpha1.Never && r != v1alpha1.Restart && r != v1alpha1.InPlace {
		a.wrong(v1alpha1.ResizeBy, "%s, %s or %s", v1alpha1.Never, v1alpha1.Restart, v1alpha1.InPlace)
		return v1alpha1.Never
	}
	return r
}
