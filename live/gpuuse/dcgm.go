package gpuuse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	httpLimit = 10 * time.Second
	mostText  = 64 << 20 // bytes of an answer
)

const query = `{__name__=~"DCGM_FI_DEV_(GPU_UTIL|FB_USED|FB_FREE|GPU_TEMP|POWER_USAGE|TOTAL_ENERGY_CONSUMPTION)|DCGM_FI_PROF_GR_ENGINE_ACTIVE"}`

// Remote returns a Read of the GPUs of a cluster. An address that ends with /metrics is a DCGM exporter; any other one
// is a Prometheus that collects from exporters. If an address fails, the GPUs of the others are returned.
func Remote(addresses []string) (Read, error) {
	for _, a := range addresses {
		if u, err := url.Parse(a); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("address %q, want http://HOST:9400/metrics of a DCGM exporter, or http://HOST:9090 of Prometheus", a)
		}
	}
	return func(ctx context.Context) ([]Sample, error) {
		var all []Sample
		var errs []error
		for _, a := range addresses {
			some, err := fetch(ctx, a)
			all, errs = append(all, some...), append(errs, err)
		}
		if len(all) > 0 {
			return sorted(all), nil
		}
		return nil, errors.Join(errs...)
	}, nil
}

func fetch(ctx context.Context, address string) ([]Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, httpLimit)
	defer cancel()
	parse := exposition
	if !strings.HasSuffix(address, "/metrics") {
		address, parse = strings.TrimSuffix(address, "/")+"/api/v1/query?query="+url.QueryEscape(query), vector
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", address, answer.Status)
	}
	points, err := parse(io.LimitReader(answer.Body, mostText))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return gather(points), nil
}

type point struct {
	name   string
	labels map[string]string
	value  float64
}

// exposition parses Prometheus' text format.
func exposition(r io.Reader) (all []point, err error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	for _, name := range slices.Sorted(maps.Keys(families)) {
		for _, m := range families[name].GetMetric() {
			p := point{name: name, labels: make(map[string]string), value: m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()}
			for _, l := range m.GetLabel() {
				p.labels[l.GetName()] = l.GetValue()
			}
			all = append(all, p)
		}
	}
	return all, err
}

// vector parses the answer of Prometheus to an instant query.
func vector(r io.Reader) (all []point, err error) {
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string `json:"metric"`
				Value  [2]any            `json:"value"`
			} `json:"result"`
		} `json:"data"`
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return nil, err
	}
	for _, one := range answer.Data.Result {
		text, _ := one.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			value = math.NaN()
		}
		all = append(all, point{one.Metric["__name__"], one.Metric, value})
	}
	return all, nil
}

// gather makes one Sample of all points of a GPU. Points of MIG slices have the label GPU_I_ID.
func gather(points []point) []Sample {
	found := make(map[string]*Sample)
	for _, p := range points {
		uuid, node := p.labels["UUID"], first(p.labels, "node", "kubernetes_node", "Hostname")
		if uuid == "" || !strings.HasPrefix(p.name, "DCGM_FI_") {
			continue
		}
		s := found[node+" "+uuid]
		if s == nil {
			s = new(unmeasured())
			s.Node, s.UUID = node, uuid
			if i, err := strconv.Atoi(p.labels["gpu"]); err == nil {
				s.Index = i
			}
			found[node+" "+uuid] = s
		}
		if pod := first(p.labels, "exported_pod", "pod"); pod != "" {
			s.Pod = first(p.labels, "exported_namespace", "namespace") + "/" + pod
		}
		s.take(p.name, p.value)
	}
	all := make([]Sample, 0, len(found))
	for _, s := range found {
		all = append(all, *s)
	}
	return sorted(all)
}

func first(labels map[string]string, names ...string) string {
	for _, n := range names {
		if labels[n] != "" {
			return labels[n]
		}
	}
	return ""
}

const mebibyte = 1 << 20

func (s *Sample) take(name string, v float64) {
	switch name {
	case "DCGM_FI_DEV_GPU_UTIL":
		s.Busy = most(s.Busy, within(v/100, 1))
	case "DCGM_FI_PROF_GR_ENGINE_ACTIVE":
		s.Busy = most(s.Busy, within(v, 1))
	case "DCGM_FI_DEV_FB_USED":
		used := within(v*mebibyte, mostBytes)
		s.Used, s.Total = sum(s.Used, used), sum(s.Total, used)
	case "DCGM_FI_DEV_FB_FREE":
		s.Total = sum(s.Total, within(v*mebibyte, mostBytes))
	case "DCGM_FI_DEV_GPU_TEMP":
		s.Celsius = most(s.Celsius, within(v, mostCelsius))
	case "DCGM_FI_DEV_POWER_USAGE":
		s.Watts = most(s.Watts, within(v, mostWatts))
	case "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION":
		s.Joules = most(s.Joules, within(v/1000, mostJoules))
	}
}

// most returns the larger known value; NaN if there is none.
func most(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// sum adds the known values; NaN if there is none.
func sum(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return a + b
}
