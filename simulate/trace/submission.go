package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/internal/strict"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

// ReadSubmission returns the job, without ID, that a user's file would submit: an sbatch script, a Kubernetes manifest
// of one job, or an object of format jsonl. name is used in messages.
func ReadSubmission(text []byte, name string) (*job.Spec, error) {
	spec, err := submission(text, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	spec.ID = ""
	return spec, nil
}

func submission(text []byte, name string) (*job.Spec, error) {
	text = bytes.TrimPrefix(text, parse.ByteOrderMark)
	if slurm.IsScript(string(text)) {
		return slurm.ParseScript(string(text))
	}
	var head struct {
		API  string `json:"apiVersion"`
		Kind string `json:"kind"`
	}
	for _, doc := range documents.Split(string(text), -1) {
		if fromYAML(doc, &head) == nil && (head.Kind != "" || head.API != "") {
			return manifest(text)
		}
	}
	if firstByte(text) == '{' {
		return jsonJob(text, name)
	}
	return nil, errors.New("want a script for sbatch, a manifest of Kubernetes, or a JSON object such as {\"gpus\": 2}")
}

func jsonJob(text []byte, name string) (*job.Spec, error) {
	var fields map[string]json.RawMessage // keeps all digits of numbers
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, errors.New(jsonProblem(err))
	}
	if err := strict.Check(text, nil); err != nil {
		return nil, err
	}
	if id := fields["id"]; id == nil || string(id) == "null" {
		fields["id"] = json.RawMessage(`"job"`)
	}
	line, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	for a, err := range readJSONL(bytes.NewReader(line), parse.Options{File: name}) {
		return &a.Spec, err
	}
	return nil, errors.New("no job")
}

var documents = regexp.MustCompile(`(?m)^---.*$`)

func fromYAML(text string, to any) error {
	same := []byte(text)
	if firstByte(same) != '{' {
		var value any
		err := yaml.Unmarshal(same, &value)
		if err == nil {
			same, err = json.Marshal(value)
		}
		if err != nil {
			return err
		}
	}
	return exactly(same, to)
}

// exactly decodes JSON, and returns an error for a key that occurs twice or has another case than its field.
func exactly(text []byte, to any) error {
	if err := json.Unmarshal(text, to); err != nil {
		return err
	}
	return strict.Check(text, to)
}

func manifest(text []byte) (spec *job.Spec, err error) {
	var others []string
	for _, doc := range documents.Split(string(text), -1) {
		var o kubeObject
		if err := fromYAML(doc, &o); err != nil {
			return nil, fmt.Errorf("manifest: %w", err)
		}
		if o.Kind == "" {
			continue
		}
		kind := kindOf(o.API, o.Kind)
		switch {
		case kind == nil || kind.shape == nil:
			others = append(others, o.Kind)
		case spec != nil:
			return nil, errors.New("several jobs, want one")
		default:
			if spec, err = manifestJob(&o); err != nil {
				return nil, err
			}
		}
	}
	if spec == nil {
		return nil, fmt.Errorf("no job that is supported: found %s", cut(strings.Join(others, ", ")))
	}
	return spec, nil
}

func manifestJob(o *kubeObject) (*job.Spec, error) {
	s, err := shapeOf(o)
	if err != nil {
		return nil, err
	}
	if drop := (&kubeDump{o: parse.Options{}.Filled()}).dropped(&kubeJob{object: o, shape: s}); drop != "" {
		reason, _, _ := strings.Cut(drop, " dropped")
		return nil, fmt.Errorf("%s %s: %s", strings.ToLower(o.Kind), cut(o.Meta.Name), strings.TrimPrefix(reason, "jobs with ")+" are not supported")
	}
	return &job.Spec{
		Name: o.Meta.Name, User: o.Meta.Namespace, Queue: queueOf(o), GPUs: s.gpus, WorkerGPUs: s.each,
		CPUs: s.cpus, Memory: int64(s.memory), GPUTypes: s.types, Adaptivity: job.Rigid, Weight: 1,
	}, nil
}
