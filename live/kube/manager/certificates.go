package manager

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// TrustMap is the ConfigMap in each namespace of a queue with the certificates of the agent API.
const TrustMap = "oxgang-agents-ca"

// After a change of leaders, workers trust the certificates of both.
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
	for namespace, owners := range owners(queues) {
		if err := l.publishIn(ctx, namespace, mine, owners); err != nil {
			l.log.Warn("the CA of the agent API was not published", "namespace", namespace, "err", err)
		}
	}
}

// The garbage collector deletes a published object once all queues that own it are gone.
func owners(queues []*v1alpha1.Queue) map[string][]metav1.OwnerReference {
	all := make(map[string][]metav1.OwnerReference)
	for _, q := range queues {
		if q.Spec.Mode == v1alpha1.Observe {
			continue
		}
		for _, ns := range q.Spec.Namespaces {
			all[ns.Name] = append(all[ns.Name], q.Owner()...)
		}
	}
	return all
}

func (l *leader) publishIn(ctx context.Context, namespace, mine string, owners []metav1.OwnerReference) error {
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
	if all == was && owned(old, owners) {
		return nil
	}
	m := applycorev1.ConfigMap(TrustMap, namespace).WithData(map[string]string{agentapi.CertificatesKey: all})
	for _, o := range owners {
		m.WithOwnerReferences(applymetav1.OwnerReference().WithAPIVersion(o.APIVersion).WithKind(o.Kind).WithName(o.Name).WithUID(o.UID))
	}
	_, err = maps.Apply(ctx, m, metav1.ApplyOptions{FieldManager: "oxgang", Force: true})
	if err != nil {
		return fmt.Errorf("ConfigMap %s: %w", TrustMap, err)
	}
	return nil
}

func owned(m *corev1.ConfigMap, owners []metav1.OwnerReference) bool {
	return !slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool {
		return !slices.ContainsFunc(m.OwnerReferences, func(has metav1.OwnerReference) bool { return has.UID == o.UID })
	})
}
