"""The figures of the papers, run again: one file per paper, one function per figure.

python -m experiments                     the names
python -m experiments order-8 --quick     one figure: the claim, our numbers beside the paper's
python -m experiments order               all figures of a paper, and its page in docs/papers
python -m experiments --all               everything
"""
