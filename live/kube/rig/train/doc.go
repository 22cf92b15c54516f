// Package train stands in for training programs on fake nodes: nothing computes, but jobs
// go on at the true speed of an application, talk to the scheduler as rank 0 of a job does,
// and end when they are complete.
//
// A job is the pods with one label oxgang.dev/job-uid; what it trains is named by the
// annotation rig.oxgang.dev/application of its pods. It trains while all pods of a
// generation run, on a time that passes Speed times as fast as real time. What it reports is
// in real seconds, as a program that is Speed times as fast would: the scheduler's clock is
// the real one. It saves a checkpoint with each report and goes on from the last one in its
// next generation. In one generation its state survives with one of its pods; a change of
// its workers costs it a restart delay all the same.
//
// Deviation: asked to stop by a Notice it saves and stands still, but does not exit with
// status 75, because its Job would count that as a failure; it is deleted anyway.
package train

import (
	"errors"
	"fmt"
	"math"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/workload"
)

// Application is an annotation on pods that names their application.
const Application = "rig.oxgang.dev/application"

// Options say whom an emulator emulates.
type Options struct {
	Config  *rest.Config     // of the cluster: lists Jobs, pods and nodes, patches pods
	Catalog workload.Catalog // the applications
	Speed   float64          // seconds that pass for a training in one real second, above 0
	// Types are the GPU types of the catalog by the product label of nodes; a product that is
	// missing is a type of its own name.
	Types map[string]cluster.GPUType

	// URL is that of the agent API, "https://127.0.0.1:8443"; empty: jobs tell nobody.
	URL    string
	Client *http.Client                        // to it; nil: http.DefaultClient
	Token  func(p *corev1.Pod) (string, error) // the bearer token of a rank 0
}

// validate returns all that is wrong with o.
func (o *Options) validate() error {
	var all []error
	if o.Config == nil {
		all = append(all, errors.New("train: no configuration of a cluster"))
	}
	if !(o.Speed > 0) || math.IsInf(o.Speed, 0) {
		all = append(all, fmt.Errorf("train: speed %v, want a finite number above 0", o.Speed))
	}
	if o.URL != "" && o.Token == nil {
		all = append(all, errors.New("train: a URL and no tokens, want both or none"))
	}
	return errors.Join(all...)
}
