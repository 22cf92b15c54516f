package manager

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// TrustMap is the name of a ConfigMap with the certificates of the agent API. Each namespace of a queue has one.
const TrustMap = "oxgang-agents-ca"

// certify creates the agent API's CA and certificate in memory, unless files hold one or the agent API is off.
// After a change of leaders, workers trust both.
func (l *leader) certify() error {
	c := &l.o.Config.Agents
	if c.Address.Address == "" || c.Certificates != "" {
		return nil
	}
	s, err := agentapi.NewCertificate(agentapi.CertificateOptions{Names: c.Names})
	if err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	if _, err := s.Renew(); err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	l.certs = s
	return nil
}

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
				l.log.Warn("the CA of the agent API was not published", "namespace", ns.Name, "err", err)
			}
		}
	}
}

func (l *leader) publishIn(ctx context.Context, namespace, mine string) error {
	maps := l.clients.CoreV1().ConfigMaps(namespace)
	old, err := maps.Get(ctx, TrustMap, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("ConfigMap %s: %w", TrustMap, err)
	}
	was := ""
	if err == nil {
		was = old.Data[agentapi.CertificatesKey]
	}
	all := agentapi.Trust(mine, was, time.Now())
	if all == was {
		return nil
	}
	_, err = maps.Apply(ctx, applycorev1.ConfigMap(TrustMap, namespace).WithData(map[string]string{agentapi.CertificatesKey: all}),
		metav1.ApplyOptions{FieldManager: "oxgang", Force: true})
	if err != nil {
		return fmt.Errorf("ConfigMap %s: %w", TrustMap, err)
	}
	return nil
}
