"""Doubtful labels beside LogisticRegression, cleanlab and nearest neighbours."""
