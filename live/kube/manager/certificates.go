package manager

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/oxgang/oxgang/live/certs"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// TrustMap is the ConfigMap with which workers check the certificate of the agent API, in
// every namespace that a queue names.
const TrustMap = "oxgang-agents-ca"

// certify makes the certificate of the agent API and the authority that signs it. Both are in
// the memory of this leader only: the next one makes others, and workers trust both while both
// are valid. It makes nothing if files hold a certificate, or the agent API is off. It runs
// before the queues are served, since publish needs its result.
func (l *leader) certify() error {
	c := &l.o.Config.Agents
	if c.Address.Address == "" || c.Certificates != "" {
		return nil
	}
	s, err := certs.NewServer(certs.Options{Names: c.Names})
	if err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	if _, err := s.Renew(); err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	l.certs = s
	return nil
}

// publish writes the certificates that workers are to trust into the namespaces of queues that
// lack them. It writes nothing for queues that are only observed.
func (l *leader) publish(ctx context.Context, queues []*v1alpha1.Queue) {
	if l.certs == nil {
		return
	}
	mine := string(l.certs.Trusted())
	for _, q := range queues {
		if q.Spec.Mode == v1alpha1.Observe {
			continue
		}
		for _, ns := range q.Spec.Namespaces {
			if err := l.publishIn(ctx, ns.Name, mine); err != nil {
				l.log.Warn("what agents are to trust was not published", "namespace", ns.Name, "err", err)
			}
		}
	}
}

// publishIn adds certificates to the valid ones that a namespace has.
func (l *leader) publishIn(ctx context.Context, namespace, mine string) error {
	maps := l.clients.CoreV1().ConfigMaps(namespace)
	old, err := maps.Get(ctx, TrustMap, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("ConfigMap %s: %w", TrustMap, err)
	}
	was := ""
	if err == nil {
		was = old.Data[certs.CertificatesKey]
	}
	all := certs.Trust(mine, was, time.Now())
	if all == was {
		return nil
	}
	_, err = maps.Apply(ctx, applycorev1.ConfigMap(TrustMap, namespace).WithData(map[string]string{certs.CertificatesKey: all}),
		metav1.ApplyOptions{FieldManager: "oxgang", Force: true})
	if err != nil {
		return fmt.Errorf("ConfigMap %s: %w", TrustMap, err)
	}
	return nil
}
